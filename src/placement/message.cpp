#include "placement/message.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plim::placement {

std::string unavailable_message(std::size_t nodes, std::span<const Rejection> rejections) {
  std::map<std::string_view, std::size_t> counts;
  for (const Rejection& rejection : rejections)
    for (const std::string& reason : rejection.reasons) counts[reason] += rejection.nodes.size();
  std::vector<std::string> parts;
  for (const auto& [reason, count] : counts) parts.push_back(fmt::format("{} {}", count, reason));
  std::ranges::sort(parts);  // bytewise, so "10 …" comes before "2 …"
  std::string out = fmt::format("0/{} nodes are available:", nodes);
  if (!parts.empty()) out += fmt::format(" {}.", fmt::join(parts, ", "));
  return out;
}

}  // namespace plim::placement
