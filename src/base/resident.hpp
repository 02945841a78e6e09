// Reduces the memory that a process keeps without need.
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

// Finds in /proc/self/smaps the read-only mappings of files whose pages are all unchanged. Dropping
// such pages loses nothing; they are read again when they are used.
std::vector<FileMapping> unchanged_files(std::string_view smaps);

// A start runs through most of the program and its libraries once (relocations, YAML, tables of
// commands), and the kernel maps sixteen pages at each access. Afterwards only few functions run.
// Returns the rest.
void forget_code_of_start();

// Returns freed memory that the allocator still holds to the kernel.
void return_freed_memory();

// From now on freed memory is returned at once, which costs a call each time: for processes that
// sleep most of the time. The allocator of the shipped program would keep it for ten seconds, and
// longer if nothing is allocated meanwhile.
void return_memory_when_freed();

struct TidyHooks {
  std::function<Nanos()> cpu_time = {};  // of the process; none: the real one
  std::function<void()> tidy = {};       // none: returns code of the start and freed memory
};

// For daemons: reduces memory after each period of work, the first being the start. Belongs to one
// loop; co_await stop() before destroying it.
class MemoryTidy {
 public:
  explicit MemoryTidy(const Executor& loop, Clock& clock = system_clock(), TidyHooks hooks = {});

  // Reduces memory at once: the start is over.
  void start();
  Task<void> stop();

 private:
  Task<void> watch();

  Clock& clock_;
  TidyHooks hooks_;
  TaskGroup tasks_;
};

}  // namespace plim
