#include "agent/platform_text.hpp"

#include <array>
#include <charconv>

#include "base/text.hpp"

namespace plim::agent {
namespace {

constexpr std::uint64_t kKilobyte = 1024, kMostKilobytes = ~std::uint64_t{0} / kKilobyte;

std::string_view cut_line(std::string_view& text) {
  const auto [line, rest] = cut(text, '\n');
  text = rest;
  return line;
}

std::string_view without_blanks(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  return begin == text.npos ? std::string_view() : text.substr(begin);
}

std::string_view cut_word(std::string_view& text) {
  text = without_blanks(text);
  const std::string_view word = text.substr(0, text.find_first_of(" \t"));
  text.remove_prefix(word.size());
  return word;
}

std::optional<std::uint64_t> first_number(std::string_view text) {
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

// Like the regular expression \s+([a-z_]+)\s+(\d+), but cheaper.
std::optional<KeyValue> word_and_number(std::string_view line) {
  if (line.empty() || (line[0] != ' ' && line[0] != '\t')) return std::nullopt;
  const std::string_view key = cut_word(line);
  for (char c : key)
    if (c != '_' && (c < 'a' || c > 'z')) return std::nullopt;
  const auto value = first_number(without_blanks(line));
  if (key.empty() || !value) return std::nullopt;
  return KeyValue{key, *value};
}

std::optional<KeyValue> by_pattern(std::string_view line, const Regex& pattern) {
  std::array<std::string_view, 3> found;  // all of it, key, value
  if (!pattern.prefix_match(line, found)) return std::nullopt;
  const auto value = first_number(found[2]);
  if (!value || found[1].empty()) return std::nullopt;
  return KeyValue{found[1], *value};
}

// "Node 0, zone    DMA32"
bool parse_zone_head(std::string_view line, ZoneValue& out) {
  if (!line.starts_with("Node ")) return false;
  auto [node, rest] = cut(line.substr(5), ',');
  const auto number = parse_int<unsigned>(node);
  if (!number || cut_word(rest) != "zone") return false;
  out.node = *number;
  out.zone = cut_word(rest);
  return true;
}

}  // namespace

void parse_cpu_ticks(std::string_view stat, std::vector<CpuTicks>& out) {
  out.clear();
  constexpr std::array<bool, 8> kAtWork{true, true, true, false, false, true, true, true};
  while (!stat.empty()) {
    std::string_view line = cut_line(stat);
    if (!line.starts_with("cpu")) continue;
    const auto cpu = parse_int<unsigned>(cut_word(line).substr(3));
    if (!cpu) continue;  // the sum of all
    CpuTicks ticks{.cpu = *cpu};
    for (bool counts : kAtWork)
      if (auto value = first_number(cut_word(line)); value && counts) ticks.ticks += *value;
    out.push_back(ticks);
  }
}

void parse_key_values(std::string_view text, std::vector<KeyValue>& out) {
  out.clear();
  while (!text.empty()) {
    const auto [key, rest] = cut(cut_line(text), ' ');
    const auto value = first_number(rest);
    if (!key.empty() && value) out.push_back({key, *value});
  }
}

void parse_zones(std::string_view zoneinfo, const Regex* pattern, std::vector<ZoneValue>& out) {
  out.clear();
  constexpr std::string_view kPerNode = "per-node-stats", kPages = "  pages ";
  ZoneValue head;
  bool in_zone = false, per_node = false;
  while (!zoneinfo.empty()) {
    std::string_view line = cut_line(zoneinfo);
    if (parse_zone_head(line, head)) {
      in_zone = true;
      per_node = false;
      continue;
    }
    if (line == "  per-node stats") per_node = true;
    if (line.starts_with(kPages)) {
      per_node = false;
      line.remove_prefix(kPages.size() - 1);
    }
    if (!in_zone) continue;
    const auto found = pattern == nullptr ? word_and_number(line) : by_pattern(line, *pattern);
    if (found)
      out.push_back({head.node, per_node ? kPerNode : head.zone, found->key, found->value});
  }
}

std::optional<std::uint64_t> bytes_of_key(std::string_view meminfo, std::string_view key) {
  while (!meminfo.empty()) {
    const std::string_view line = cut_line(meminfo);
    if (!line.starts_with(key)) continue;
    const auto value = first_number(without_blanks(line.substr(key.size())));
    if (!value || *value > kMostKilobytes) return std::nullopt;
    return *value * kKilobyte;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> memory_in_use(std::string_view meminfo) {
  const auto total = bytes_of_key(meminfo, "MemTotal:");
  if (!total) return std::nullopt;
  std::uint64_t in_use = *total;
  for (std::string_view key : {"MemFree:", "Buffers:", "Cached:"}) {
    const auto part = bytes_of_key(meminfo, key);
    if (!part || *part > in_use) return std::nullopt;
    in_use -= *part;
  }
  return in_use;
}

}  // namespace plim::agent
