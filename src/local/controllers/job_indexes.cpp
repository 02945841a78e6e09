#include "local/controllers/job_indexes.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"

namespace plim::local::controllers {

JobIndexes JobIndexes::parse(std::string_view text, std::int64_t completions) {
  JobIndexes out;
  if (text.empty()) return out;
  for (std::string_view item : split(text, ',')) {
    const auto [low, high] = cut(item, '-');
    auto first = parse_int<std::int64_t>(low);
    auto last = high.empty() ? first : parse_int<std::int64_t>(high);
    if (!first || !last || *first < 0) continue;
    const std::int64_t end = std::min(*last, completions - 1);
    // We write them in order; anything else was written by another client.
    if (*first > end || (!out.ranges_.empty() && *first <= out.ranges_.back().second)) continue;
    if (!out.ranges_.empty() && *first == out.ranges_.back().second + 1) {
      out.ranges_.back().second = end;
    } else {
      out.ranges_.emplace_back(*first, end);
    }
  }
  return out;
}

bool JobIndexes::contains(std::int64_t index) const {
  auto after = std::upper_bound(ranges_.begin(), ranges_.end(), std::pair(index, INT64_MAX));
  return after != ranges_.begin() && std::prev(after)->second >= index;
}

void JobIndexes::add(std::int64_t index) {
  if (contains(index)) return;
  auto place = std::upper_bound(ranges_.begin(), ranges_.end(), std::pair(index, INT64_MAX));
  place = ranges_.insert(place, {index, index});
  if (auto next = std::next(place); next != ranges_.end() && next->first == index + 1) {
    place->second = next->second;
    place = std::prev(ranges_.erase(next));
  }
  if (place != ranges_.begin() && std::prev(place)->second == index - 1) {
    std::prev(place)->second = place->second;
    ranges_.erase(place);
  }
}

std::int64_t JobIndexes::size() const {
  std::int64_t out = 0;
  for (const auto& [first, last] : ranges_) out += last - first + 1;
  return out;
}

std::string JobIndexes::to_string() const {
  std::string out;
  for (const auto& [first, last] : ranges_) {
    if (!out.empty()) out += ',';
    out += fmt::format("{}", first);
    if (last == first + 1) out += fmt::format(",{}", last);
    if (last > first + 1) out += fmt::format("-{}", last);
  }
  return out;
}

std::vector<std::int64_t> JobIndexes::first_missing(const JobIndexes& done, const JobIndexes& busy,
                                                    std::int64_t completions, std::size_t count) {
  std::vector<std::int64_t> out;
  for (std::int64_t index = 0; index < completions && out.size() < count; ++index)
    if (!done.contains(index) && !busy.contains(index)) out.push_back(index);
  return out;
}

}  // namespace plim::local::controllers
