// Hints about claims, volumes, storage classes and what CSI drivers report.
#include <algorithm>

#include "base/json.hpp"
#include "placement/migrated_volumes.hpp"
#include "placement/volume_table.hpp"
#include "sched/queue_hints.hpp"

namespace plim::sched {
namespace {

bool uses_claim(const kube::Pod& pod, const StorageEvent& claim) {
  return pod.meta.ns == claim.ns &&
         std::ranges::any_of(pod.spec.volumes, [&](const kube::PodVolume& volume) {
           return placement::claim_name(pod, volume) == claim.name;
         });
}

// A pod with claims may wait for any driver; a disk in the pod itself belongs to one.
bool may_use_attacher(const kube::Pod& pod, std::string_view attacher) {
  return std::ranges::any_of(pod.spec.volumes, [&](const kube::PodVolume& volume) {
    if (!volume.claim.empty() || volume.ephemeral) return true;
    if (volume.disk.empty()) return false;
    const auto disk = parse_json(volume.disk.view());
    return disk && placement::in_tree_source(*disk).driver == attacher;
  });
}

}  // namespace

bool storage_may_help(PluginId plugin, const ClusterEvent& event, const kube::Pod& pod) {
  const StorageEvent& change = *event.storage;
  if (event.kind == EventKind::ClaimAdd || event.kind == EventKind::ClaimUpdate)
    return uses_claim(pod, change);
  switch (plugin) {
    case PluginId::VolumeBinding:
      return change.helps_binding;
    case PluginId::VolumeZone:
      return change.helps_zones;
    case PluginId::NodeVolumeLimits:
      if (event.kind == EventKind::VolumeAttachmentDelete)
        return may_use_attacher(pod, change.name);
      return change.helps_limits;
    default:
      return true;
  }
}

}  // namespace plim::sched
