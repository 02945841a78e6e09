#include "placement/node_table.hpp"

#include <algorithm>
#include <numeric>

namespace plim::placement {
namespace {

bool same_taints(const std::vector<kube::Taint>& a, const std::vector<kube::Taint>& b) {
  return std::ranges::equal(a, b, [](const kube::Taint& x, const kube::Taint& y) {
    return x.key == y.key && x.value == y.value && x.effect == y.effect;
  });
}

}  // namespace

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
    nonzero_cpu_.push_back(0);
    nonzero_memory_.push_back(0);
    pod_limit_.push_back(0);
    pods_.push_back(0);
    taint_set_.push_back(0);
    labels_.emplace_back();
    make_columns();
    for (auto& [key, column] : label_columns_) column.resize(names_.size());
  }
  by_name_.emplace(name, row);
  name_ranks_stale_ = true;
  return row;
}

void NodeTable::make_columns() {
  for (Columns* columns : {&allocatable_, &requested_}) {
    columns->resize(resources_.size());
    for (auto& column : *columns) column.resize(names_.size(), 0);
  }
}

void NodeTable::note_change(NodeIndex row) {
  constexpr std::size_t kMost = 8192;
  if (changed_.size() >= kMost) {
    changed_.erase(changed_.begin(), changed_.begin() + kMost / 2);
    forgotten_changes_ += kMost / 2;
  }
  changed_.push_back(row);
}

std::optional<std::span<const NodeIndex>> NodeTable::changed_since(std::uint64_t number) const {
  if (number < forgotten_changes_) return std::nullopt;
  return std::span(changed_).subspan(number - forgotten_changes_);
}

NodeIndex NodeTable::set(const kube::Node& node) {
  NodeIndex row = row_of(node.meta.name);
  if (!live_[row]) {
    live_rows_stale_ = true;
    ++label_version_;
  }
  live_[row] = 1;
  NodeCapacity capacity = capacity_of(node.allocatable, resources_);
  make_columns();
  for (auto& column : allocatable_) column[row] = 0;
  for (const auto& [id, amount] : capacity.amounts) allocatable_[id][row] = amount;
  pod_limit_[row] = capacity.pods;
  set_marks(row, node.unschedulable, taint_set_of(node.taints));
  set_labels(row, node.meta.labels);
  note_change(row);
  return row;
}

void NodeTable::remove(std::string_view name) {
  auto found = by_name_.find(name);
  if (found == by_name_.end() || !live_[found->second]) return;
  NodeIndex row = found->second;
  live_[row] = 0;
  live_rows_stale_ = true;
  set_labels(row, {});
  set_marks(row, false, 0);
  ++label_version_;
  free_if_unused(row);
}

void NodeTable::set_marks(NodeIndex row, bool unschedulable, std::uint32_t taint_set) {
  unschedulable_nodes_ += std::size_t{unschedulable} - unschedulable_[row];
  tainted_nodes_ += std::size_t{taint_set != 0} - std::size_t{taint_set_[row] != 0};
  unschedulable_[row] = unschedulable;
  taint_set_[row] = taint_set;
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
  make_columns();
  for (ResourceId id = 0; id < kFirstScalar; ++id) requested_[id][row] += sign * requests.basic[id];
  for (const auto& [id, amount] : requests.scalars) requested_[id][row] += sign * amount;
  nonzero_cpu_[row] += sign * requests.nonzero_cpu;
  nonzero_memory_[row] += sign * requests.nonzero_memory;
  pods_[row] += sign;
  note_change(row);
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

std::uint32_t NodeTable::taint_set_of(const std::vector<kube::Taint>& taints) {
  auto found = std::ranges::find_if(taint_sets_,
                                    [&](const auto& known) { return same_taints(known, taints); });
  if (found == taint_sets_.end()) {
    if (taint_sets_.size() > 2 * names_.size() + 64) forget_unused_taint_sets();
    found = taint_sets_.insert(taint_sets_.end(), taints);
  }
  return static_cast<std::uint32_t>(found - taint_sets_.begin());
}

// Some taints carry the time they were set: without this their sets would pile up.
void NodeTable::forget_unused_taint_sets() {
  std::vector<std::vector<kube::Taint>> kept{{}};
  std::vector<std::uint32_t> moved(taint_sets_.size(), 0);
  for (std::uint32_t& set : taint_set_) {
    if (set != 0 && moved[set] == 0) {
      moved[set] = static_cast<std::uint32_t>(kept.size());
      kept.push_back(std::move(taint_sets_[set]));
    }
    set = moved[set];
  }
  taint_sets_ = std::move(kept);
}

void NodeTable::set_labels(NodeIndex row, const kube::Labels& labels) {
  std::vector<std::pair<LabelKey, LabelValue>> made;
  made.reserve(labels.size());
  for (const auto& [key, value] : labels)
    made.emplace_back(texts_.hold(key), texts_.hold(value) + 1);
  std::ranges::sort(made);
  made.swap(labels_[row]);
  if (made != labels_[row]) {  // most updates of a node leave them alone
    ++label_version_;
    auto set = [&](LabelKey key, LabelValue value) {
      if (auto column = label_columns_.find(key); column != label_columns_.end())
        column->second.set(row, value);
    };
    for (const auto& [key, value] : made) set(key, 0);
    for (const auto& [key, value] : labels_[row]) set(key, value);
  }
  for (const auto& [key, value] : made) {
    texts_.drop(key);
    texts_.drop(value - 1);
  }
}

const LabelColumn& NodeTable::label_column(LabelKey key) {
  auto [at, is_new] = label_columns_.try_emplace(key);
  if (is_new) {
    at->second.resize(names_.size());
    for (NodeIndex row = 0; row < names_.size(); ++row) at->second.set(row, label(row, key));
  }
  return at->second;
}

LabelValue NodeTable::label(NodeIndex row, LabelKey key) const {
  auto at =
      std::ranges::lower_bound(labels_[row], key, {}, &std::pair<LabelKey, LabelValue>::first);
  return at != labels_[row].end() && at->first == key ? at->second : 0;
}

}  // namespace plim::placement
