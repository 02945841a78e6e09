// Claims, volumes, storage classes and CSI objects as decisions need them, how many pods use a
// claim, and which volumes are reserved for claims of pods that are about to be bound.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/types.hpp"
#include "placement/csi_table.hpp"
#include "placement/node_table.hpp"
#include "placement/pod_rules.hpp"
#include "placement/storage_objects.hpp"

namespace plim::placement {

// The volumes that a pod needs on its node and does not have yet.
struct VolumePlan {
  struct Static {
    std::string volume, version;
    ClaimRef claim;
    std::string claim_version;
    bool named = false;    // the volume already names this claim
    bool written = false;  // and its uid, so that there is nothing to write
  };

  struct Provision {
    ClaimRef claim;
    std::string version;
    bool written = false;  // the claim already names the node
  };

  std::vector<Static> statics;
  std::vector<Provision> provisions;

  bool empty() const { return statics.empty() && provisions.empty(); }
};

// Belongs to one thread.
class VolumeTable {
 public:
  explicit VolumeTable(NodeTable& table) : table_(table) {}

  struct Volume {
    PersistentVolume object;
    bool has_affinity = false;
    NodeRules affinity;
    NodeRules csi_affinity;  // of an in-tree volume, on nodes where its CSI driver does the work
    bool has_csi_affinity = false;
    // Zone and region labels with the values that match.
    std::vector<std::pair<std::string, std::vector<std::string>>> topology;
    // A label that the volume's nodes have with this value; finds the volume quickly.
    bool pinned = false;
    LabelKey pin_key = 0;
    std::string pin_value;
    // The claim of a pod that is about to be bound; the API does not show it yet.
    const ClaimRef* reserved = nullptr;

    // What the API shows is stronger than a reservation.
    const ClaimRef* taken_by() const { return object.claim ? &*object.claim : reserved; }

    bool fits_on(const NodeTable& table, NodeIndex row) const {
      return !has_affinity || affinity.required_match(table, row);
    }
  };

  void set_claim(VolumeClaim claim);
  void remove_claim(std::string_view ns, std::string_view name);
  void set_volume(const PersistentVolume& volume);
  void remove_volume(std::string_view name);
  void set_class(const StorageClass& made);
  void remove_class(std::string_view name);

  CsiTable& csi() { return csi_; }

  const CsiTable& csi() const { return csi_; }

  const VolumeClaim* claim(std::string_view ns, std::string_view name) const;
  const Volume* volume(std::string_view name) const;
  const StorageClass* storage_class(std::string_view name) const;
  std::span<const Volume* const> volumes_of_class(std::string_view name) const;

  // Whether the node may use the volume. On nodes where the volume's in-tree plugin is migrated,
  // the labels of the CSI driver count.
  bool fits_on(const Volume& volume, NodeIndex row) const;

  // The node for which the claim's volume is made: as annotated, or as reserved; null for none.
  const std::string* selected_node(const VolumeClaim& claim) const;

  // Adds (1) or removes (-1) the pod of a node as a user of its volumes.
  void count(const kube::Pod& pod, NodeIndex row, int sign);
  std::int64_t users(std::string_view ns, std::string_view claim) const;

  // At least as many as are attached to the node for its pods: a volume counts once for each pod.
  std::int64_t uses_on(NodeIndex row) const;

  // Until release() no other claim gets these volumes, and these claims no other node. Two pods
  // with the same claim may both reserve its volume.
  void reserve(const VolumePlan& plan, std::string_view node);
  void release(const VolumePlan& plan);

  std::size_t reservations() const { return reserved_.size() + selected_.size(); }

 private:
  struct Reserved {
    ClaimRef claim;
    int pods = 0;
  };

  struct Selected {
    std::string node;
    int pods = 0;
  };

  NodeTable& table_;
  TextMap<VolumeClaim> claims_;  // by "namespace/name"
  TextMap<Volume> volumes_;
  TextMap<std::vector<const Volume*>> by_class_;
  TextMap<StorageClass> classes_;
  CsiTable csi_;
  TextMap<std::int64_t> users_;
  std::vector<std::int64_t> uses_;  // by node
  TextMap<Reserved> reserved_;      // by volume
  TextMap<Selected> selected_;      // by claim
};

// The name of the claim that a volume of the pod uses, "" for none.
std::string claim_name(const kube::Pod& pod, const kube::PodVolume& volume);

// Whether any volume of the pod uses a claim.
bool uses_claims(const kube::Pod& pod);

// Whether two old-style disks must not be on one node: the same disk, unless both only read it.
bool disks_clash(std::string_view one, std::string_view other);

}  // namespace plim::placement
