// The nodes as columns: one row per node, one array per number that filters and scores run over.
// Belongs to one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/types.hpp"
#include "placement/decision.hpp"
#include "placement/label_texts.hpp"
#include "placement/node_features.hpp"
#include "placement/node_labels.hpp"
#include "placement/node_resources.hpp"
#include "placement/node_taints.hpp"
#include "placement/pod_requests.hpp"
#include "placement/row_changes.hpp"

namespace plim::placement {

// A row exists while its node exists or a pod names it as its node. Without a node it is not live,
// and decisions do not see it. A row without both is reused for another node.
class NodeTable {
 public:
  NodeIndex set(const kube::Node& node);
  void remove(std::string_view name);  // the row stays while pods hold it

  // The row of a name, made if there is none. Call release() once for every hold().
  NodeIndex hold(std::string_view name);
  void release(NodeIndex row);

  // The row of a live node.
  std::optional<NodeIndex> find(std::string_view name) const;

  // Adds (1) or removes (-1) a pod.
  void count(NodeIndex row, const PodRequests& requests, int sign);

  std::size_t rows() const { return names_.size(); }

  // The rows of live nodes, ascending.
  const std::vector<NodeIndex>& live() const;

  bool is_live(NodeIndex row) const { return live_[row] != 0; }

  const std::string& name(NodeIndex row) const { return names_[row]; }

  // The place of every row in the order of names.
  const std::vector<std::uint32_t>& name_ranks() const;

  bool unschedulable(NodeIndex row) const { return unschedulable_[row] != 0; }

  // Whether any live node is. In most clusters filters need not look at each node.
  bool any_unschedulable() const { return unschedulable_nodes_ != 0; }

  NodeResources& resources() { return resources_; }

  const NodeResources& resources() const { return resources_; }

  NodeLabels& labels() { return labels_; }

  const NodeLabels& labels() const { return labels_; }

  const NodeTaints& taints() const { return taints_; }

  const NodeFeatures& features() const { return features_; }

  // Changes of nodes and of what their pods request.
  const RowChanges& changes() const { return changes_; }

 private:
  NodeIndex row_of(std::string_view name);
  void free_if_unused(NodeIndex row);
  void set_unschedulable(NodeIndex row, bool unschedulable);

  NodeResources resources_;
  NodeLabels labels_;
  NodeTaints taints_;
  NodeFeatures features_;
  RowChanges changes_;
  TextMap<NodeIndex> by_name_;
  std::vector<NodeIndex> free_;
  mutable std::vector<NodeIndex> live_rows_;
  mutable bool live_rows_stale_ = false;
  mutable std::vector<std::uint32_t> name_ranks_;
  mutable bool name_ranks_stale_ = false;
  std::size_t unschedulable_nodes_ = 0;

  std::vector<std::string> names_;
  std::vector<std::uint8_t> live_, unschedulable_;
  std::vector<std::uint32_t> holds_;
};

}  // namespace plim::placement
