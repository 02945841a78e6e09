// Which volumes a pod would get on a node: those of its bound claims, available ones for claims
// that wait for their first consumer, or new ones. Made for one decision.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "placement/cluster_tables.hpp"

namespace plim::placement {

// The claims of a pod.
struct PodClaims {
  std::vector<const VolumeClaim*> bound;
  std::vector<const VolumeClaim*> waiting;  // for their first consumer
  // Why the pod cannot be placed at all, as the PreFilter step of kube-scheduler reports it; ""
  // otherwise.
  std::string wrong;

  bool empty() const { return bound.empty() && waiting.empty(); }
};

PodClaims claims_of(const kube::Pod& pod, const VolumeTable& volumes);

class VolumeMatcher {
 public:
  VolumeMatcher(ClusterTables& cluster, PodClaims claims);

  struct Judgement {
    bool bound_match = true;    // the node matches the volumes of bound claims
    bool unbound_match = true;  // there is a volume for every other claim, or one can be made
    bool enough_storage = true;
    bool bound_exist = true;  // the volumes of bound claims exist

    bool fits() const { return bound_match && unbound_match && enough_storage && bound_exist; }
  };

  struct Choice {
    struct Taken {
      const VolumeClaim* claim = nullptr;
      const VolumeTable::Volume* volume = nullptr;
    };

    struct Made {
      const VolumeClaim* claim = nullptr;
      const StorageCapacity* from = nullptr;  // null: the driver does not report its capacity
    };

    std::vector<Taken> taken;
    std::vector<Made> made;
  };

  // Judges the row; `out` says which volumes the pod would get there.
  Judgement judge(NodeIndex row, Choice& out) const;

  // Whether nodes differ only by labels, that is, no claim waits.
  bool any_waits() const { return !waiting_.empty(); }

 private:
  // One claim that waits for its first consumer, with all that does not depend on the node.
  struct Waiting {
    const VolumeClaim* claim = nullptr;
    const std::string* node = nullptr;  // where its volume is made already
    std::vector<const VolumeTable::Volume*> prebound;
    std::vector<const VolumeTable::Volume*> candidates;  // the smallest first
    std::vector<std::uint32_t> loose;                    // candidates without a pin
    std::vector<LabelKey> pin_keys;
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> pinned;
    bool can_be_made = false;
    std::vector<std::vector<std::pair<LabelKey, std::vector<LabelValue>>>> topologies;
    bool checks_capacity = false;
    std::vector<const StorageCapacity*> capacities;  // large enough
  };

  void prepare(const VolumeClaim& claim);
  void find_candidates(Waiting& out) const;
  void find_provisioner(Waiting& out);
  void judge_bound(NodeIndex row, Judgement& out) const;
  const VolumeTable::Volume* find_volume(const Waiting& one, NodeIndex row,
                                         const Choice& chosen) const;
  bool topology_matches(const Waiting& one, NodeIndex row) const;
  const StorageCapacity* find_capacity(const Waiting& one, NodeIndex row) const;
  bool can_be_made(const Waiting& one, NodeIndex row, Judgement& judged, Choice& out) const;

  const VolumeTable& volumes_;
  NodeTable& table_;
  PodClaims claims_;
  std::vector<Waiting> waiting_;  // the smallest request first
};

// What has to be written and awaited before the pod can be bound to the node; empty if all its
// claims are bound.
VolumePlan plan_volumes(ClusterTables& cluster, const kube::Pod& pod, std::string_view node);

}  // namespace plim::placement
