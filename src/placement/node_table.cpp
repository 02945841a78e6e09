#include "placement/node_table.hpp"

#include <algorithm>
#include <numeric>

namespace plim::placement {

NodeIndex NodeTable::row_of(std::string_view name) {
  if (auto found = by_name_.find(name); found != by_name_.end()) return found->second;
  NodeIndex row;
  if (!free_.empty()) {
    row = free_.back();
    free_.pop_back();
    names_[row] = name;
  } else {
    row = static_cast<NodeIndex>(names_.size());
    names_.emplace_back(name);
    live_.push_back(0);
    unschedulable_.push_back(0);
    holds_.push_back(0);
    resources_.add_row();
    labels_.add_row();
    taints_.add_row();
    features_.add_row();
  }
  by_name_.emplace(name, row);
  name_ranks_stale_ = true;
  return row;
}

NodeIndex NodeTable::set(const kube::Node& node) {
  NodeIndex row = row_of(node.meta.name);
  if (!live_[row]) {
    live_rows_stale_ = true;
    labels_.count_change();
  }
  live_[row] = 1;
  resources_.set_allocatable(row, node.allocatable);
  set_unschedulable(row, node.unschedulable);
  taints_.set(row, node.taints);
  features_.set(row, node.declared_features);
  labels_.set(row, node.meta.labels);
  changes_.add(row);
  return row;
}

void NodeTable::remove(std::string_view name) {
  auto found = by_name_.find(name);
  if (found == by_name_.end() || !live_[found->second]) return;
  NodeIndex row = found->second;
  live_[row] = 0;
  live_rows_stale_ = true;
  labels_.set(row, {});
  set_unschedulable(row, false);
  taints_.set(row, {});
  features_.set(row, {});
  labels_.count_change();
  free_if_unused(row);
}

void NodeTable::set_unschedulable(NodeIndex row, bool unschedulable) {
  unschedulable_nodes_ += std::size_t{unschedulable} - unschedulable_[row];
  unschedulable_[row] = unschedulable;
}

NodeIndex NodeTable::hold(std::string_view name) {
  NodeIndex row = row_of(name);
  ++holds_[row];
  return row;
}

void NodeTable::release(NodeIndex row) {
  --holds_[row];
  free_if_unused(row);
}

void NodeTable::free_if_unused(NodeIndex row) {
  if (live_[row] || holds_[row] != 0) return;
  by_name_.erase(names_[row]);
  names_[row].clear();
  free_.push_back(row);
}

std::optional<NodeIndex> NodeTable::find(std::string_view name) const {
  auto found = by_name_.find(name);
  if (found == by_name_.end() || !live_[found->second]) return std::nullopt;
  return found->second;
}

void NodeTable::count(NodeIndex row, const PodRequests& requests, int sign) {
  resources_.count(row, requests, sign);
  changes_.add(row);
}

const std::vector<NodeIndex>& NodeTable::live() const {
  if (live_rows_stale_) {
    live_rows_.clear();
    for (NodeIndex row = 0; row < live_.size(); ++row)
      if (live_[row]) live_rows_.push_back(row);
    live_rows_stale_ = false;
  }
  return live_rows_;
}

const std::vector<std::uint32_t>& NodeTable::name_ranks() const {
  if (name_ranks_stale_) {
    std::vector<NodeIndex> order(names_.size());
    std::iota(order.begin(), order.end(), NodeIndex{0});
    std::ranges::sort(order, {}, [&](NodeIndex row) -> const std::string& { return names_[row]; });
    name_ranks_.resize(order.size());
    for (std::uint32_t rank = 0; rank < order.size(); ++rank) name_ranks_[order[rank]] = rank;
    name_ranks_stale_ = false;
  }
  return name_ranks_;
}

}  // namespace plim::placement
