// Storage objects as far as decisions read them. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "base/quantity.hpp"
#include "kube/selector.hpp"
#include "kube/types.hpp"

namespace plim::placement {

struct VolumeClaim {
  std::string ns = {}, name = {};
  std::string volume = {};         // spec.volumeName
  std::string storage_class = {};  // "" for none
  bool bound = false;              // annotated pv.kubernetes.io/bind-completed
  bool lost = false;               // status.phase Lost
  bool deleted = false;
  bool once_pod = false;  // its access modes include ReadWriteOncePod
  bool block = false;     // volumeMode: Block
  std::string uid = {}, version = {};
  std::optional<Quantity> request = {};
  std::vector<std::string> access_modes = {};
  std::optional<kube::LabelSelector> selector = {};
  std::string attributes_class = {};
  std::optional<std::string> selected_node = {};  // annotated volume.kubernetes.io/selected-node
  std::string controller = {};                    // uid of the owner that is its controller

  bool fully_bound() const { return bound && !volume.empty(); }
};

struct ClaimRef {
  std::string ns = {}, name = {};
  std::string uid = {};  // "" if a user has reserved the volume by name

  bool is(const VolumeClaim& claim) const {
    return name == claim.name && ns == claim.ns && (uid.empty() || uid == claim.uid);
  }

  bool operator==(const ClaimRef&) const = default;
};

// Where the data of a volume are.
struct VolumeSource {
  std::string driver = {}, handle = {};  // of CSI, also for in-tree volumes that are migrated to it
  std::string in_tree = {};              // the in-tree plugin: "kubernetes.io/aws-ebs"

  bool operator==(const VolumeSource&) const = default;
};

struct PersistentVolume {
  std::string name = {};
  kube::Labels labels = {};
  json::value node_affinity = {};  // spec.nodeAffinity.required, null for none
  std::string version = {};
  Quantity capacity = {};
  std::vector<std::string> access_modes = {};
  bool block = false;
  bool available = false;  // status.phase Available
  bool deleted = false;
  std::string storage_class = {}, attributes_class = {};
  std::optional<ClaimRef> claim = {};
  VolumeSource source = {};
};

struct StorageClass {
  // All of these labels must have one of the values.
  using TopologyTerm = std::vector<std::pair<std::string, std::vector<std::string>>>;

  std::string name = {};
  bool waits_for_consumer = false;  // volumeBindingMode: WaitForFirstConsumer
  std::string provisioner = {};
  std::vector<TopologyTerm> topologies = {};  // allowedTopologies; one must match
};

struct CsiDriver {
  std::string name = {};
  bool storage_capacity = false;
  bool prevent_if_missing = false;  // preventPodSchedulingIfMissing
};

struct CsiNode {
  struct Driver {
    std::string name;
    std::optional<std::int64_t> limit;

    bool operator==(const Driver&) const = default;
  };

  std::string name = {};  // of the node too
  std::vector<Driver> drivers = {};
  std::string migrated = {};  // the annotation storage.alpha.kubernetes.io/migrated-plugins

  bool has(std::string_view driver) const;
  bool has_migrated(std::string_view in_tree) const;
};

struct StorageCapacity {
  std::string key = {};  // "namespace/name"
  std::string storage_class = {};
  std::optional<kube::LabelSelector> nodes = {};
  std::optional<Quantity> capacity = {}, largest = {};  // largest: maximumVolumeSize

  // The largest volume that can be made.
  const std::optional<Quantity>& limit() const { return largest ? largest : capacity; }
};

struct VolumeAttachment {
  std::string name = {}, node = {}, attacher = {};
  std::string volume = {};  // "" for an inline volume
};

}  // namespace plim::placement
