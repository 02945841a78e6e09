#include "node/cgroup_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace plim::node {
namespace {

std::optional<std::uint64_t> number_at(const char* from, const char* end) {
  std::uint64_t value = 0;
  auto [stop, problem] = std::from_chars(from, end, value);
  if (problem != std::errc() || stop == from) return std::nullopt;
  return value;
}

// What follows "\n<key><separator>" up to the end of the line; empty if there is no such line.
std::string_view line_after(std::string_view text, std::string_view key, char separator) {
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end) {
    at = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
    if (at == nullptr) break;
    ++at;
    const auto left = static_cast<std::size_t>(end - at);
    if (left > key.size() && at[key.size()] == separator &&
        std::memcmp(at, key.data(), key.size()) == 0) {
      const char* from = at + key.size() + 1;
      const auto* stop =
          static_cast<const char*>(std::memchr(from, '\n', static_cast<std::size_t>(end - from)));
      return {from, static_cast<std::size_t>((stop == nullptr ? end : stop) - from)};
    }
  }
  return {};
}

// Adds "… N0=3 N1=4" to `out`; returns the number of nodes.
std::size_t add_nodes(std::string_view line, std::span<std::uint64_t> out) {
  std::size_t nodes = 0;
  for (std::size_t at = line.find('N'); at != line.npos; at = line.find('N', at + 1)) {
    auto node = number_at(line.data() + at + 1, line.data() + line.size());
    const std::size_t equals = line.find('=', at);
    if (!node || *node >= out.size() || equals == line.npos) continue;
    auto value = number_at(line.data() + equals + 1, line.data() + line.size());
    if (!value) continue;
    out[*node] += *value;
    nodes = std::max<std::size_t>(nodes, *node + 1);
  }
  return nodes;
}

}  // namespace

std::optional<std::uint64_t> leading_number(std::string_view text) {
  const std::size_t from = text.find_first_not_of(" \n\t");
  if (from == text.npos) return std::nullopt;
  return number_at(text.data() + from, text.data() + text.size());
}

std::optional<std::uint64_t> value_of_key(std::string_view text, std::string_view key) {
  std::string_view rest = line_after(text, key, ' ');
  if (rest.empty()) return std::nullopt;
  return number_at(rest.data(), rest.data() + rest.size());
}

std::optional<std::uint64_t> pressure_total(std::string_view text, std::string_view kind) {
  constexpr std::string_view kTotal = "total=";
  std::string_view rest = line_after(text, kind, ' ');
  const std::size_t at = rest.find(kTotal);
  if (at == rest.npos) return std::nullopt;
  return number_at(rest.data() + at + kTotal.size(), rest.data() + rest.size());
}

std::size_t numa_pages_v1(std::string_view text, std::span<std::uint64_t> out) {
  std::ranges::fill(out, 0);
  std::string_view line = line_after(text, "hierarchical_total", '=');
  if (line.empty()) line = line_after(text, "total", '=');
  return add_nodes(line, out);
}

std::size_t numa_bytes_v2(std::string_view text, std::span<std::uint64_t> out) {
  constexpr std::array<std::string_view, 5> kLists{"inactive_anon", "active_anon", "inactive_file",
                                                   "active_file", "unevictable"};
  std::ranges::fill(out, 0);
  std::size_t nodes = 0;
  for (std::string_view list : kLists)
    nodes = std::max(nodes, add_nodes(line_after(text, list, ' '), out));
  return nodes;
}

}  // namespace plim::node
