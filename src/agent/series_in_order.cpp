#include "agent/series_in_order.hpp"

#include <algorithm>

namespace plim::agent {

SeriesInOrder::SeriesInOrder(MetricTable& table, MetricTable::Family family, Labels labels,
                             Wanted wanted)
    : table_(table), family_(family), labels_(std::move(labels)), wanted_(std::move(wanted)) {}

std::size_t SeriesInOrder::find(std::string_view key) {
  const auto known = std::ranges::find(known_, key, &Known::key);
  if (known != known_.end()) return static_cast<std::size_t>(known - known_.begin());
  Known made{.key = std::string(key), .wanted = !wanted_ || wanted_(key), .series = 0};
  if (made.wanted) {
    Labels labels = labels_;
    labels.try_emplace("key", key);
    made.series = table_.add(family_, table_.add_labels(labels));
  }
  known_.push_back(std::move(made));
  return known_.size() - 1;
}

void SeriesInOrder::set(std::string_view key, std::uint64_t value) {
  if (next_ >= known_.size() || known_[next_].key != key) next_ = find(key);
  const Known& known = known_[next_++];
  if (known.wanted) table_.set(known.series, value);
}

}  // namespace plim::agent
