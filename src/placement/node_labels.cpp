#include "placement/node_labels.hpp"

#include <algorithm>

namespace plim::placement {

void NodeLabels::add_row() {
  by_row_.emplace_back();
  for (auto& [key, column] : columns_) column.resize(by_row_.size());
}

void NodeLabels::set(NodeIndex row, const kube::Labels& labels) {
  std::vector<Pair> made;
  made.reserve(labels.size());
  for (const auto& [key, value] : labels)
    made.emplace_back(texts_.hold(key), texts_.hold(value) + 1);
  std::ranges::sort(made);
  made.swap(by_row_[row]);
  if (made != by_row_[row]) {  // most updates of a node do not change its labels
    ++version_;
    auto set = [&](LabelKey key, LabelValue value) {
      if (auto column = columns_.find(key); column != columns_.end())
        column->second.set(row, value);
    };
    for (const auto& [key, value] : made) set(key, 0);
    for (const auto& [key, value] : by_row_[row]) set(key, value);
  }
  for (const auto& [key, value] : made) {
    texts_.drop(key);
    texts_.drop(value - 1);
  }
}

const LabelColumn& NodeLabels::column(LabelKey key) {
  auto [at, is_new] = columns_.try_emplace(key);
  if (is_new) {
    at->second.resize(by_row_.size());
    for (NodeIndex row = 0; row < by_row_.size(); ++row) at->second.set(row, value(row, key));
  }
  return at->second;
}

LabelValue NodeLabels::value(NodeIndex row, LabelKey key) const {
  auto at = std::ranges::lower_bound(by_row_[row], key, {}, &Pair::first);
  return at != by_row_[row].end() && at->first == key ? at->second : 0;
}

}  // namespace plim::placement
