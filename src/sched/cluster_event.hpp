// Events in a cluster that may help a pod for which there was no node.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "kube/types.hpp"
#include "sched/storage_event.hpp"
#include "sched/vocabulary.hpp"

namespace plim::sched {
// NOLINTBEGIN(readability-identifier-naming): as in kube-scheduler's metrics
enum class EventKind : std::uint8_t {
  NodeAdd,
  NodeDelete,
  NodeLabel,
  NodeTaint,
  NodeAllocatable,
  NodeFeature,
  AssignedPodAdd,
  AssignedPodLabel,
  AssignedPodScaleDown,
  AssignedPodDelete,
  // Changes of the waiting pod itself.
  PodGates,
  PodToleration,
  PodLabel,
  PodScaleDown,
  PodUpdate,
  // Storage objects, from the first to the last of these.
  ClaimAdd,
  ClaimUpdate,
  VolumeAdd,
  VolumeUpdate,
  ClassAdd,
  ClassUpdate,
  CsiNodeAdd,
  CsiNodeUpdate,
  CsiDriverUpdate,
  CapacityAdd,
  CapacityUpdate,
  VolumeAttachmentDelete,
  Inventory,
};
inline constexpr std::size_t kEventKinds = 28;

// NOLINTEND(readability-identifier-naming)
constexpr bool is_storage_event(EventKind kind) {
  return kind >= EventKind::ClaimAdd && kind <= EventKind::VolumeAttachmentDelete;
}

std::string_view label_of(EventKind kind);  // as in kube-scheduler's metrics: "NodeUpdateNodeTaint"

struct ClusterEvent {
  EventKind kind{};
  // The object before and after the change; null if it did not exist.
  std::shared_ptr<const kube::Node> node_before = {}, node = {};
  std::shared_ptr<const kube::Pod> pod_before = {}, pod = {};
  std::shared_ptr<const StorageEvent> storage = {};
  // If set, the event concerns only pods up to this priority: what is gone did not block more
  // important ones.
  std::optional<std::int64_t> up_to_priority = {};
};

// The kinds of events that the plugin's hints ask for, as bits: one mask test per pod.
std::uint32_t event_mask(PluginId plugin);

inline std::uint32_t event_bit(EventKind kind) {
  return 1U << static_cast<unsigned>(kind);
}

// Whether `pod` may pass this plugin, which rejected it, after the event.
bool may_help(PluginId plugin, const ClusterEvent& event, const kube::Pod& pod);

// The events in a change of a node; none for a heartbeat.
std::vector<EventKind> changes_of(const kube::Node& before, const kube::Node& now);
// The same for a pod that has a node, and for a pod that waits for one.
std::vector<EventKind> changes_of_assigned(const kube::Pod& before, const kube::Pod& now);
std::vector<EventKind> changes_of_waiting(const kube::Pod& before, const kube::Pod& now);

}  // namespace plim::sched
