// All that decisions look at, kept up to date change by change: nodes, the pods on them, namespaces
// and who selects pods. Belongs to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "kube/selector.hpp"
#include "kube/types.hpp"
#include "loop/image_inventory.hpp"
#include "placement/image_history.hpp"
#include "placement/image_table.hpp"
#include "placement/node_matches.hpp"
#include "placement/node_table.hpp"
#include "placement/pod_counts.hpp"
#include "placement/pod_requests.hpp"
#include "placement/pod_rules.hpp"
#include "placement/port_table.hpp"
#include "placement/volume_table.hpp"

namespace plim::placement {

using PodPointer = std::shared_ptr<const kube::Pod>;

// A pod on a node, or one that is going to be there.
struct PodRecord {
  PodPointer pod;
  NodeIndex row = 0;
  PodRequests requests;
  std::vector<kube::HostPort> ports;
  std::shared_ptr<const Affinity> affinity;
  std::vector<std::string> images;  // keys of those that are there or on their way
  WallTime bound_at{};              // since when they are; the largest time: not told yet

  const kube::Pod& operator*() const { return *pod; }
};

// A pod's uid; without one, as in files people write, its namespace and name.
std::string pod_key(const kube::Pod& pod);

// What selects pods: a Service, or a controller that owns them.
struct SelectorOwner {
  std::string kind;  // Service, ReplicationController, ReplicaSet, StatefulSet
  std::string ns, name;
  kube::LabelSelector selector;
};

class ClusterTables {
 public:
  ClusterTables();

  void set_node(const kube::Node& node);
  void remove_node(std::string_view name);

  // A pod that has a node. Pods that are over do not count and are forgotten.
  void set_pod(PodPointer pod, std::string_view node);
  void remove_pod(std::string_view key);
  void nominate(PodPointer pod, std::string_view node);
  void forget_nomination(std::string_view key);

  void set_namespace(std::string_view name, kube::Labels labels);
  void remove_namespace(std::string_view name);
  void set_selector_owner(SelectorOwner owner);
  void remove_selector_owner(std::string_view kind, std::string_view ns, std::string_view name);

  void set_inventory(std::string_view node, const loop::ImageInventory& inventory,
                     InventorySource reporter);
  void remove_inventory(std::string_view node, InventorySource reporter);

  // Puts a pod on a row (1) or takes it away (-1) for as long as a filter looks; the caller undoes
  // it.
  void imagine(const PodRecord& record, NodeIndex row, int sign);

  PodRecord record_of(PodPointer pod);

  NodeTable& table() { return *table_; }

  const NodeTable& table() const { return *table_; }

  RuleReader& rules() { return rules_; }

  const PortTable& ports() const { return ports_; }

  const ImageTable& images() const { return images_; }

  const ImageHistory& image_history() const { return image_history_; }

  VolumeTable& volumes() { return volumes_; }

  const VolumeTable& volumes() const { return volumes_; }

  NodeMatchCache& node_matches() { return node_matches_; }

  // The affinity terms of the pods that are there.
  const TermTable& terms() const { return terms_; }

  // Pods that match, by row; valid until the cluster is changed.
  const RowCounts& count_pods(const PodMatcher& matcher);

  std::span<const std::unique_ptr<PodRecord>> pods_on(NodeIndex row) const;
  std::span<const std::unique_ptr<PodRecord>> nominated_on(NodeIndex row) const;

  // The live node a pod is nominated for, by its key; "" for none.
  std::string_view nominated_node(std::string_view key) const;

  bool has_nominations() const { return !nominations_.empty(); }

  const PodRecord* find_pod(std::string_view key) const;

  std::size_t pod_count() const { return pods_.size(); }

  const kube::Labels& namespace_labels(std::string_view name) const;

  const TextMap<kube::Labels>& namespaces() const { return namespaces_; }

  // The selectors of Services and of the controller that choose this pod, all in one; matches
  // nothing when there is none.
  kube::LabelSelector owners_of(const kube::Pod& pod) const;

 private:
  using Records = std::vector<std::unique_ptr<PodRecord>>;

  std::unique_ptr<PodRecord> take_record(std::vector<Records>& from, TextMap<NodeIndex>& index,
                                         std::string_view key);
  void count(const PodRecord& record, int sign);
  Records& records(std::vector<Records>& of, NodeIndex row);

  std::unique_ptr<NodeTable> table_;  // others refer to it, also when the cluster is moved
  RuleReader rules_;
  PortTable ports_;
  NodeMatchCache node_matches_;
  PodCounts counts_;
  TermTable terms_;
  ImageTable images_;
  ImageHistory image_history_;
  VolumeTable volumes_;
  TextMap<NodeIndex> pods_, nominations_;        // where each is
  ByReporter<TextMap<NodeIndex>> inventories_;   // of those that are no part of a Node
  std::vector<Records> on_row_, nominated_row_;  // by row
  TextMap<kube::Labels> namespaces_;
  TextMap<std::vector<SelectorOwner>> owners_;  // by namespace
};

}  // namespace plim::placement
