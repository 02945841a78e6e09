// What of a process stays in memory without need.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/task.hpp"

namespace plim {

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
void forget_code_of_start();

// Freed memory that the allocator still holds goes back to the kernel.
void return_freed_memory();

// From now on freed memory goes back at once, which costs a call each time: for who sleeps most of
// the time. The shipped program's allocator would keep it for ten seconds, and longer when nobody
// allocates meanwhile.
void return_memory_when_freed();

struct TidyHooks {
  std::function<Nanos()> cpu_time = {};  // of the process; none: what is true
  std::function<void()> tidy = {};       // none: gives back code of the start and freed memory
};

// For daemons: tidies up whenever a stretch of work has ended, the start being the first. Belongs
// to one loop; co_await stop() before destroying it.
class MemoryTidy {
 public:
  explicit MemoryTidy(const Executor& loop, Clock& clock = system_clock(), TidyHooks hooks = {});

  // Tidies at once: what was so far was the start.
  void start();
  Task<void> stop();

 private:
  Task<void> watch();

  Clock& clock_;
  TidyHooks hooks_;
  TaskGroup tasks_;
};

}  // namespace plim
