// Which node takes a pod, or why none does: kube-scheduler 1.34's decision as a function of what it
// was told. No I/O and no clock. Belongs to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "placement/cluster_tables.hpp"
#include "placement/decision.hpp"
#include "placement/node_class.hpp"
#include "placement/preempt.hpp"
#include "placement/profile.hpp"
#include "placement/sample_order.hpp"

namespace plim::placement {

class Engine {
 public:
  void set_node(const kube::Node& node) { cluster_.set_node(node); }

  void remove_node(std::string_view name) { cluster_.remove_node(name); }

  // A pod that has a node, bound or assumed; the second form is for pods whose spec does not say so
  // yet. Setting it again replaces it; one that has ended is forgotten.
  void set_pod(PodPointer pod) {
    std::string node(pod->spec.node_name.view());
    cluster_.set_pod(std::move(pod), node);
  }

  void set_pod(PodPointer pod, std::string_view node) { cluster_.set_pod(std::move(pod), node); }

  void remove_pod(std::string_view uid) { cluster_.remove_pod(uid); }

  // A pod for which others have been removed from the node.
  void nominate(PodPointer pod, std::string_view node) { cluster_.nominate(std::move(pod), node); }

  void forget_nomination(std::string_view uid) { cluster_.forget_nomination(uid); }

  void set_namespace(std::string_view name, kube::Labels labels) {
    cluster_.namespaces().set(name, std::move(labels));
  }

  void remove_namespace(std::string_view name) { cluster_.namespaces().remove(name); }

  void set_selector_owner(SelectorOwner owner) {
    cluster_.namespaces().set_owner(std::move(owner));
  }

  void remove_selector_owner(std::string_view kind, std::string_view ns, std::string_view name) {
    cluster_.namespaces().remove_owner(kind, ns, name);
  }

  // By the resource or an etcd; what stands in annotations comes with the node.
  void set_inventory(std::string_view node, const loop::ImageInventory& inventory,
                     InventorySource reporter = InventorySource::Crd) {
    cluster_.set_inventory(node, inventory, reporter);
  }

  void remove_inventory(std::string_view node, InventorySource reporter = InventorySource::Crd) {
    cluster_.remove_inventory(node, reporter);
  }

  // Claims, volumes and classes of storage are told to the table itself.
  VolumeTable& volumes() { return cluster_.volumes(); }

  // Who has extenders asks first for the feasible nodes only, then the extenders about those, and
  // at last again with their answers: what has changed meanwhile counts.
  Decision decide(const kube::Pod& pod, const Profile& profile, const DecideOptions& options);

  // After decide() said that the pod fits nowhere, and before anything changes. Extenders may cut
  // the candidates; best_candidate() then chooses again.
  Preemption preempt(const kube::Pod& pod, const Profile& profile, const Decision& decision,
                     std::span<const DisruptionBudget> budgets, const PreemptionOptions& options);

  // Forgets what was found out for pods of equal shape, which is looked at again then.
  void forget_classes() { classes_.clear(); }

  std::size_t node_count() const { return cluster_.table().live().size(); }

  std::size_t pod_count() const { return cluster_.pods().size(); }

  // Valid until the engine is changed, as the indexes in a Decision are.
  const std::string& node_name(NodeIndex row) const { return cluster_.table().name(row); }

  const ClusterTables& cluster() const { return cluster_; }

  ClusterTables& cluster() { return cluster_; }

 private:
  ClusterTables cluster_;
  NodeClasses classes_;
  SampleOrder sample_order_;
  std::size_t next_start_ = 0;  // where the next search begins when not all nodes are looked at
};

}  // namespace plim::placement
