// Decides which node gets a pod, or why none does: the decision of kube-scheduler as a
// function of the objects passed in. No I/O and no clock. Belongs to one thread.
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
  // Decides as this version of kube-scheduler; profiles must have the same one. Call it before the
  // first pod.
  void follow(const Release& release) { cluster_.follow(release); }

  void set_node(const kube::Node& node) { cluster_.set_node(node); }

  void remove_node(std::string_view name) { cluster_.remove_node(name); }

  // A pod that has a node, bound or assumed; the second form is for pods whose spec does not name
  // the node yet. Setting a pod again replaces it; a pod that has ended is removed.
  void set_pod(PodPointer pod) {
    std::string node(pod->spec.node_name.view());
    cluster_.set_pod(std::move(pod), node);
  }

  void set_pod(PodPointer pod, std::string_view node) { cluster_.set_pod(std::move(pod), node); }

  void remove_pod(std::string_view uid) { cluster_.remove_pod(uid); }

  // A pod for which other pods were evicted from the node.
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

  // An inventory from a NodeImageInventory or from etcd; one in annotations comes with the node.
  void set_inventory(std::string_view node, const loop::ImageInventory& inventory,
                     InventorySource reporter = InventorySource::Crd) {
    cluster_.set_inventory(node, inventory, reporter);
  }

  void remove_inventory(std::string_view node, InventorySource reporter = InventorySource::Crd) {
    cluster_.remove_inventory(node, reporter);
  }

  // Callers set claims, volumes and storage classes in this table.
  VolumeTable& volumes() { return cluster_.volumes(); }

  // With extenders the caller first asks for the feasible nodes only, then asks the extenders about
  // these, and then calls again with their answers. The last call uses the current state of the
  // cluster.
  Decision decide(const kube::Pod& pod, const Profile& profile, const DecideOptions& options);

  // Call it after decide() found no node for the pod and before anything changes. Extenders may
  // remove candidates; best_candidate() then chooses again.
  Preemption preempt(const kube::Pod& pod, const Profile& profile, const Decision& decision,
                     std::span<const DisruptionBudget> budgets, const PreemptionOptions& options);

  // Clears what is cached for pods of equal shape.
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
  std::size_t next_start_ = 0;  // where the next search begins if a search checks only some nodes
};

}  // namespace plim::placement
