#include "base/resident.hpp"

#include <charconv>
#include <cstddef>
#include <malloc.h>
#include <string>
#include <sys/mman.h>
#include <sys/types.h>
#include <time.h>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/text.hpp"

// From jemalloc, which not every build has.
extern "C" [[gnu::weak]] int mallctl(const char* name, void* old, std::size_t* old_size, void* now,
                                     std::size_t now_size);

namespace plim {
namespace {

using namespace std::chrono_literals;

constexpr Nanos kLook = 1s;
constexpr Nanos kAtRest = 20ms;  // of CPU time between two checks

bool parse_hex(std::string_view text, unsigned long& out) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, 16);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

// "55f0-55f9 r-xp 00000000 fe:00 123   /usr/bin/plimsoll"
bool parse_mapping_head(std::string_view line, FileMapping& out) {
  auto [range, rest] = cut(line, ' ');
  auto [from, to] = cut(range, '-');
  if (!parse_hex(from, out.begin) || !parse_hex(to, out.end)) return false;
  const std::string_view rights = cut(rest, ' ').first;
  const bool is_file = rest.find(" /") != rest.npos;
  return is_file && rights.size() == 4 && rights[0] == 'r' && rights[1] == '-' && rights[3] == 'p';
}

// The first line of a mapping has no colon before its first space; the other lines do.
bool is_mapping_head(std::string_view line) {
  const std::string_view word = cut(line, ' ').first;
  return word.find('-') != word.npos && !word.ends_with(':');
}

Nanos cpu_time_of_process() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + Nanos(used.tv_nsec);
}

void tidy_memory() {
  forget_code_of_start();
  return_freed_memory();
}

}  // namespace

std::vector<FileMapping> unchanged_files(std::string_view smaps) {
  std::vector<FileMapping> out;
  FileMapping current;
  bool fits = false;
  for (std::string_view line : split(smaps, '\n')) {
    if (is_mapping_head(line)) {
      fits = parse_mapping_head(line, current);
    } else if (fits && line.starts_with("Anonymous:")) {
      // Changed pages (breakpoints, relocations) exist only in our memory and must stay.
      if (trim(line.substr(line.find(':') + 1)) == "0 kB") out.push_back(current);
      fits = false;
    }
  }
  return out;
}

void forget_code_of_start() {
  const auto smaps = read_file("/proc/self/smaps");
  if (!smaps) return;
  for (const FileMapping& mapping : unchanged_files(*smaps))
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel gives the address as a number
    (void)::madvise(reinterpret_cast<void*>(mapping.begin), mapping.end - mapping.begin,
                    MADV_DONTNEED);
}

void return_freed_memory() {
  if (mallctl == nullptr) {
    ::malloc_trim(0);
    return;
  }
  (void)mallctl("thread.tcache.flush", nullptr, nullptr, nullptr, 0);
  (void)mallctl("arena.4096.purge", nullptr, nullptr, nullptr, 0);  // purges every arena
}

void return_memory_when_freed() {
  unsigned arena = 0;
  std::size_t size = sizeof arena;
  if (mallctl == nullptr || mallctl("thread.arena", &arena, &size, nullptr, 0) != 0) return;
  for (const char* kind : {"dirty", "muzzy"}) {
    ssize_t at_once = 0;
    const std::string name = fmt::format("arena.{}.{}_decay_ms", arena, kind);
    (void)mallctl(name.c_str(), nullptr, nullptr, &at_once, sizeof at_once);
  }
}

MemoryTidy::MemoryTidy(const Executor& loop, Clock& clock, TidyHooks hooks)
    : clock_(clock), hooks_(std::move(hooks)), tasks_(loop) {
  if (!hooks_.cpu_time) hooks_.cpu_time = cpu_time_of_process;
  if (!hooks_.tidy) hooks_.tidy = tidy_memory;
}

void MemoryTidy::start() {
  hooks_.tidy();
  tasks_.spawn("memory", watch());
}

Task<void> MemoryTidy::stop() {
  return tasks_.stop();
}

Task<void> MemoryTidy::watch() {
  bool worked = true;  // the start is followed by more work
  Nanos before = hooks_.cpu_time();
  for (;;) {
    co_await clock_.sleep(kLook);
    const Nanos now = hooks_.cpu_time();
    const bool at_rest = now - std::exchange(before, now) < kAtRest;
    if (!at_rest) worked = true;
    if (!at_rest || !worked) continue;
    hooks_.tidy();
    worked = false;
    before = hooks_.cpu_time();
  }
}

}  // namespace plim
