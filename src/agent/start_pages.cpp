#include "agent/start_pages.hpp"

#include <charconv>
#include <cstddef>
#include <dlfcn.h>
#include <string>
#include <sys/mman.h>
#include <sys/types.h>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/text.hpp"

namespace plim::agent {
namespace {

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

// The first line of a mapping has no colon before its first blank, those about it do.
bool is_mapping_head(std::string_view line) {
  const std::string_view word = cut(line, ' ').first;
  return word.find('-') != word.npos && !word.ends_with(':');
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
      // A breakpoint, a relocation: pages that are ours alone are nowhere else.
      if (trim(line.substr(line.find(':') + 1)) == "0 kB") out.push_back(current);
      fits = false;
    }
  }
  return out;
}

void drop_start_pages() {
  const auto smaps = read_file("/proc/self/smaps");
  if (!smaps) return;
  for (const FileMapping& mapping : unchanged_files(*smaps))
    // NOLINTNEXTLINE(performance-no-int-to-ptr): that is how the kernel names it
    (void)::madvise(reinterpret_cast<void*>(mapping.begin), mapping.end - mapping.begin,
                    MADV_DONTNEED);
}

void return_freed_memory() {
  using MallCtl = int(const char*, void*, std::size_t*, void*, std::size_t);
  // Not every build has jemalloc.
  auto* const control = reinterpret_cast<MallCtl*>(::dlsym(RTLD_DEFAULT, "mallctl"));
  if (control == nullptr) return;
  unsigned arena = 0;
  std::size_t size = sizeof arena;
  if (control("thread.arena", &arena, &size, nullptr, 0) != 0) return;
  for (const char* kind : {"dirty", "muzzy"}) {
    ssize_t at_once = 0;
    const std::string name = fmt::format("arena.{}.{}_decay_ms", arena, kind);
    (void)control(name.c_str(), nullptr, nullptr, &at_once, sizeof at_once);
  }
}

}  // namespace plim::agent
