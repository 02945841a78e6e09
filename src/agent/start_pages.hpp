// The memory of a process that has started: less than it took to start.
#pragma once

#include <string_view>
#include <vector>

namespace plim::agent {

struct FileMapping {
  unsigned long begin = 0, end = 0;

  bool operator==(const FileMapping&) const = default;
};

// Of /proc/self/smaps: what shows a file that nobody may write through it, and of which every page
// is still the file's. Dropping such pages loses nothing, they come back when they are touched.
std::vector<FileMapping> unchanged_files(std::string_view smaps);

// Starting runs through most of the program and its libraries once (relocations, YAML, tables of
// commands), and the kernel maps sixteen pages at each touch. From then on the same few functions
// run. Gives the rest back.
void drop_start_pages();
// An agent sleeps most of the time: memory that it frees goes back at once. The shipped program's
// allocator would keep it for ten seconds, in case it is wanted again.
void return_freed_memory();

}  // namespace plim::agent
