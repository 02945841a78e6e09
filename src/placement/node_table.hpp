// The nodes as columns: one row per node, one array per number that filters and scores run over.
// Belongs to one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kube/types.hpp"
#include "placement/decision.hpp"
#include "placement/label_texts.hpp"
#include "placement/pod_requests.hpp"

namespace plim::placement {

// A row exists while its node does or a pod says it is there; without a node it is not live and no
// decision sees it. Rows are used again when both are gone.
class NodeTable {
 public:
  NodeIndex set(const kube::Node& node);
  void remove(std::string_view name);  // the row stays while pods hold it

  // The row of a name, made if there is none. Every hold is given back by release().
  NodeIndex hold(std::string_view name);
  void release(NodeIndex row);

  // The row of a live node.
  std::optional<NodeIndex> find(std::string_view name) const;

  // Gives every resource that has a name its columns.
  void make_columns();

  // Counts a pod in (1) or out (-1).
  void count(NodeIndex row, const PodRequests& requests, int sign);

  std::size_t rows() const { return names_.size(); }

  // The rows of live nodes, ascending.
  const std::vector<NodeIndex>& live() const;

  bool is_live(NodeIndex row) const { return live_[row] != 0; }

  const std::string& name(NodeIndex row) const { return names_[row]; }

  // The place of every row in the order of names.
  const std::vector<std::uint32_t>& name_ranks() const;

  // Columns. A resource that no node or pod has named yet has none: nullptr.
  const std::int64_t* allocatable(ResourceId id) const { return column(allocatable_, id); }

  const std::int64_t* requested(ResourceId id) const { return column(requested_, id); }

  const std::int64_t* nonzero_cpu() const { return nonzero_cpu_.data(); }

  const std::int64_t* nonzero_memory() const { return nonzero_memory_.data(); }

  const std::int32_t* pods() const { return pods_.data(); }

  const std::int64_t* pod_limit() const { return pod_limit_.data(); }

  bool unschedulable(NodeIndex row) const { return unschedulable_[row] != 0; }

  // Whether any live node is, or has taints: most clusters need not look at each.
  bool any_unschedulable() const { return unschedulable_nodes_ != 0; }

  bool any_tainted() const { return tainted_nodes_ != 0; }

  // Taints: nodes with equal taints share a number.
  std::uint32_t taint_set(NodeIndex row) const { return taint_set_[row]; }

  const std::vector<std::vector<kube::Taint>>& taint_sets() const { return taint_sets_; }

  // Labels. The column of a key is kept from the first time somebody asks for it.
  LabelKey key_id(std::string_view key) { return texts_.keep(key); }

  // 0 if no node has it.
  LabelValue find_value(std::string_view value) const { return texts_.find(value); }

  std::string_view text(LabelValue value) const { return texts_.text(value - 1); }

  // How many texts it keeps.
  std::size_t text_count() const { return texts_.size(); }

  const LabelColumn& label_column(LabelKey key);

  LabelValue label(NodeIndex row, LabelKey key) const;

  std::span<const std::pair<LabelKey, LabelValue>> labels(NodeIndex row) const {
    return labels_[row];
  }

  ResourceNames& resources() { return resources_; }

  const ResourceNames& resources() const { return resources_; }

  // Every change of a row's numbers gets the next number, so that who has looked at all rows once
  // needs to look only at the changed ones again.
  std::uint64_t changes() const { return forgotten_changes_ + changed_.size(); }

  // Rows changed from that number on, with repeats; none if that is too long ago to tell.
  std::optional<std::span<const NodeIndex>> changed_since(std::uint64_t number) const;

  // Counts the changes of labels, nodes that come and go among them: what was derived from labels
  // is good as long as it stands still.
  std::uint64_t label_version() const { return label_version_; }

 private:
  using Columns = std::vector<std::vector<std::int64_t>>;

  static const std::int64_t* column(const Columns& columns, ResourceId id) {
    return id < columns.size() ? columns[id].data() : nullptr;
  }

  NodeIndex row_of(std::string_view name);
  void note_change(NodeIndex row);
  void free_if_unused(NodeIndex row);
  void set_labels(NodeIndex row, const kube::Labels& labels);
  void set_marks(NodeIndex row, bool unschedulable, std::uint32_t taint_set);
  void forget_unused_taint_sets();
  std::uint32_t taint_set_of(const std::vector<kube::Taint>& taints);

  ResourceNames resources_;
  LabelTexts texts_;
  TextMap<NodeIndex> by_name_;
  std::vector<NodeIndex> free_;
  mutable std::vector<NodeIndex> live_rows_;
  mutable bool live_rows_stale_ = false;
  mutable std::vector<std::uint32_t> name_ranks_;
  mutable bool name_ranks_stale_ = false;
  std::uint64_t label_version_ = 1;
  std::uint64_t forgotten_changes_ = 0;
  std::size_t unschedulable_nodes_ = 0, tainted_nodes_ = 0;
  std::vector<NodeIndex> changed_;

  std::vector<std::string> names_;
  std::vector<std::uint8_t> live_, unschedulable_;
  std::vector<std::uint32_t> holds_;
  Columns allocatable_, requested_;
  std::vector<std::int64_t> nonzero_cpu_, nonzero_memory_, pod_limit_;
  std::vector<std::int32_t> pods_;
  std::vector<std::uint32_t> taint_set_;
  std::vector<std::vector<kube::Taint>> taint_sets_{{}};  // 0: no taints
  std::vector<std::vector<std::pair<LabelKey, LabelValue>>> labels_;
  std::unordered_map<LabelKey, LabelColumn> label_columns_;
};

}  // namespace plim::placement
