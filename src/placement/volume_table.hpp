// Claims, volumes and storage classes as far as filters need them, and how many pods use a claim.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kube/types.hpp"
#include "placement/node_table.hpp"
#include "placement/pod_rules.hpp"

namespace plim::placement {

struct VolumeClaim {
  std::string ns = {}, name = {};
  std::string volume = {};         // spec.volumeName
  std::string storage_class = {};  // "" for none
  bool bound = false;              // annotated pv.kubernetes.io/bind-completed
  bool lost = false;               // status.phase Lost
  bool deleted = false;
  bool once_pod = false;  // its access modes include ReadWriteOncePod
};

struct PersistentVolume {
  std::string name;
  kube::Labels labels;
  json::value node_affinity;  // spec.nodeAffinity.required, null for none
};

struct StorageClass {
  std::string name;
  bool waits_for_consumer = false;  // volumeBindingMode: WaitForFirstConsumer
};

// Belongs to one thread.
class VolumeTable {
 public:
  explicit VolumeTable(NodeTable& table) : table_(table) {}

  struct Volume {
    bool has_affinity = false;
    NodeRules affinity;
    // Zone and region labels with the values that match.
    std::vector<std::pair<std::string, std::vector<std::string>>> topology;
  };

  void set_claim(VolumeClaim claim);
  void remove_claim(std::string_view ns, std::string_view name);
  void set_volume(const PersistentVolume& volume);
  void remove_volume(std::string_view name);
  void set_class(const StorageClass& made);
  void remove_class(std::string_view name);

  const VolumeClaim* claim(std::string_view ns, std::string_view name) const;
  const Volume* volume(std::string_view name) const;
  const StorageClass* storage_class(std::string_view name) const;

  // Adds (1) or removes (-1) the pod as a user of its claims.
  void count(const kube::Pod& pod, int sign);
  std::int64_t users(std::string_view ns, std::string_view claim) const;

 private:
  NodeTable& table_;
  TextMap<VolumeClaim> claims_;  // by "namespace/name"
  TextMap<Volume> volumes_;
  TextMap<StorageClass> classes_;
  TextMap<std::int64_t> users_;
};

// The name of the claim that a volume of the pod uses, "" for none.
std::string claim_name(const kube::Pod& pod, const kube::PodVolume& volume);

// Whether two old-style disks must not be on one node: the same disk, unless both only read it.
bool disks_clash(std::string_view one, std::string_view other);

}  // namespace plim::placement
