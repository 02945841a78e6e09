// What happens in a cluster, as far as it may help a pod that found no node.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "kube/types.hpp"
#include "sched/vocabulary.hpp"

namespace plim::sched {

enum class EventKind : std::uint8_t {
  NodeAdd,
  NodeDelete,
  NodeLabel,
  NodeTaint,
  NodeAllocatable,
  AssignedPodAdd,
  AssignedPodLabel,
  AssignedPodScaleDown,
  AssignedPodDelete,
  // Of the waiting pod itself.
  PodGates,
  PodToleration,
  PodLabel,
  PodScaleDown,
  PodUpdate,
  // Claims, volumes, classes, drivers.
  Volumes,
  VolumeAttachmentDelete,
  Inventory,
};
inline constexpr std::size_t kEventKinds = 17;

std::string_view label_of(EventKind kind);  // as in stock's metrics: "NodeUpdateNodeTaint"

struct ClusterEvent {
  EventKind kind{};
  // What it was before and is now, where there is such a thing.
  std::shared_ptr<const kube::Node> node_before = {}, node = {};
  std::shared_ptr<const kube::Pod> pod_before = {}, pod = {};
  // Concerns only pods that are not more important: others have not been kept out by what is gone.
  std::optional<std::int64_t> up_to_priority = {};
};

// Whether any hint of these plugins asks for events of this kind at all: one mask test per pod.
std::uint32_t event_mask(PluginId plugin);

inline std::uint32_t event_bit(EventKind kind) {
  return 1U << static_cast<unsigned>(kind);
}

// Whether the event may let `pod` pass this plugin, which has refused it.
bool may_help(PluginId plugin, const ClusterEvent& event, const kube::Pod& pod);

// The events in a change of a node; those of heartbeats are none.
std::vector<EventKind> changes_of(const kube::Node& before, const kube::Node& now);
// Of a pod that has a node, and of one that waits for one.
std::vector<EventKind> changes_of_assigned(const kube::Pod& before, const kube::Pod& now);
std::vector<EventKind> changes_of_waiting(const kube::Pod& before, const kube::Pod& now);

}  // namespace plim::sched
