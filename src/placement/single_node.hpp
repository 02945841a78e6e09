// Checks of one pod and one node, outside of a decision: the DaemonSet controller makes them for
// every node, and a kubelet makes them again when a pod arrives. The pod's rules and requests are
// read as the filters read them. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/toleration.hpp"
#include "kube/types.hpp"
#include "placement/node_table.hpp"
#include "placement/pod_rules.hpp"

namespace plim::placement {

// The requirements of a pod on a node's name, labels and taints. The pod is parsed once and can be
// compared with any number of nodes.
class NodeDemands {
 public:
  explicit NodeDemands(const kube::Pod& pod);
  NodeDemands(const NodeDemands&) = delete;
  NodeDemands& operator=(const NodeDemands&) = delete;

  // NodeName: the pod names this node, or none.
  bool accept_name(const kube::Node& node) const;
  // NodeAffinity: nodeSelector and required node affinity.
  bool accept_labels(const kube::Node& node) const;
  // TaintToleration: the pod tolerates all taints with this effect.
  bool tolerate(const kube::Node& node, std::string_view effect) const;

  const NodeRules& rules() const { return affinity_->nodes; }

 private:
  NodeTable label_ids_;  // the rules use its numbers of labels
  std::string node_name_;
  std::shared_ptr<const Affinity> affinity_;
  std::shared_ptr<const NodeTerm> selector_;
  std::shared_ptr<const std::vector<kube::Toleration>> tolerations_;
};

// A resource of which the node has less left than the pod requests. CPU is in milli-CPU.
struct Shortage {
  std::string resource;
  std::int64_t requested = 0, used = 0, capacity = 0;

  bool operator==(const Shortage&) const = default;
};

// NodeResourcesFit: "pods" first, then cpu, memory, ephemeral-storage, then the others. `there` are
// the pods on the node.
std::vector<Shortage> find_shortages(const kube::Pod& pod, const kube::Node& node,
                                     std::span<const kube::Pod> there);

// NodePorts: no pod on the node has a host port that this one wants.
bool host_ports_are_free(const kube::Pod& pod, std::span<const kube::Pod> there);

}  // namespace plim::placement
