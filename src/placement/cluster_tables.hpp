// All that decisions look at, kept up to date change by change: nodes, the pods on them, images,
// volumes, namespaces and the owners of pods. Belongs to one thread.
#pragma once

#include <memory>
#include <string_view>

#include "kube/types.hpp"
#include "loop/image_inventory.hpp"
#include "placement/image_history.hpp"
#include "placement/image_table.hpp"
#include "placement/namespace_table.hpp"
#include "placement/node_matches.hpp"
#include "placement/node_table.hpp"
#include "placement/placed_pods.hpp"
#include "placement/pod_records.hpp"
#include "placement/pod_rules.hpp"
#include "placement/release.hpp"
#include "placement/volume_table.hpp"

namespace plim::placement {

class ClusterTables {
 public:
  ClusterTables();

  // How pods are counted and read. Call it before the first pod.
  void follow(const Release& release);

  const Release& release() const { return release_; }

  void set_node(const kube::Node& node);
  void remove_node(std::string_view name);

  // A pod that has a node. A pod that has succeeded or failed does not count and is removed.
  void set_pod(PodPointer pod, std::string_view node);
  void remove_pod(std::string_view key);
  void nominate(PodPointer pod, std::string_view node);
  void forget_nomination(std::string_view key);

  void set_inventory(std::string_view node, const loop::ImageInventory& inventory,
                     InventorySource reporter);
  void remove_inventory(std::string_view node, InventorySource reporter);

  // Adds a pod to a row (1) or removes it (-1) while a filter looks; the caller undoes it.
  void imagine(const PodRecord& record, NodeIndex row, int sign);

  NodeTable& table() { return *table_; }

  const NodeTable& table() const { return *table_; }

  RuleReader& rules() { return rules_; }

  PlacedPods& pods() { return pods_; }

  const PlacedPods& pods() const { return pods_; }

  const PodRecords& nominations() const { return nominations_; }

  // The live node a pod is nominated for, by the pod's key; "" for none.
  std::string_view nominated_node(std::string_view key) const;

  const ImageTable& images() const { return images_; }

  const ImageHistory& image_history() const { return image_history_; }

  VolumeTable& volumes() { return volumes_; }

  const VolumeTable& volumes() const { return volumes_; }

  NodeMatchCache& node_matches() { return node_matches_; }

  NamespaceTable& namespaces() { return namespaces_; }

  const NamespaceTable& namespaces() const { return namespaces_; }

 private:
  void count(const PodRecord& record, int sign);

  Release release_;
  std::unique_ptr<NodeTable> table_;  // others refer to it, also when the cluster is moved
  RuleReader rules_;
  NodeMatchCache node_matches_;
  PlacedPods pods_;
  PodRecords nominations_;
  ImageTable images_;
  ImageHistory image_history_;
  VolumeTable volumes_;
  // The rows held for inventories that are not part of a Node object.
  ByReporter<TextMap<NodeIndex>> inventories_;
  NamespaceTable namespaces_;
};

}  // namespace plim::placement
