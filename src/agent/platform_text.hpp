// Parses files of /proc and /sys. Each text begins with a line end, as in node/cgroup_text. Results
// point into the text.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/regex.hpp"

namespace plim::agent {

struct CpuTicks {
  unsigned cpu = 0;
  std::uint64_t ticks = 0;  // not idle: user, nice, system, irq, softirq, steal
};

struct KeyValue {
  std::string_view key;
  std::uint64_t value = 0;
};

struct ZoneValue {
  unsigned node = 0;
  std::string_view zone;  // "per-node-stats" for values of the node
  std::string_view key;
  std::uint64_t value = 0;
};

// All functions clear `out` first, and skip lines that they cannot parse.
void parse_cpu_ticks(std::string_view stat, std::vector<CpuTicks>& out);
// "key 123", one per line.
void parse_key_values(std::string_view text, std::vector<KeyValue>& out);
// Lines that begin with the pattern, whose groups are key and value; null: a word and a number. In
// "pages free 7" the key is "free".
void parse_zones(std::string_view zoneinfo, const Regex* pattern, std::vector<ZoneValue>& out);

// Bytes of "MemFree:    123 kB"; the key has its colon.
std::optional<std::uint64_t> bytes_of_key(std::string_view meminfo, std::string_view key);
// Bytes in use of /proc/meminfo: neither free nor buffers nor page cache.
std::optional<std::uint64_t> memory_in_use(std::string_view meminfo);

}  // namespace plim::agent
