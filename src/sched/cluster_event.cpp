#include "sched/cluster_event.hpp"

#include <algorithm>
#include <array>

#include "base/quantity.hpp"
#include "kube/selector.hpp"
#include "loop/image_annotation.hpp"
#include "placement/pod_requests.hpp"

namespace plim::sched {
namespace {

constexpr std::array<std::string_view, kEventKinds> kEventLabels{
    "NodeAdd",
    "NodeDelete",
    "NodeUpdateNodeLabel",
    "NodeUpdateNodeTaint",
    "NodeUpdateNodeAllocatable",
    "NodeUpdateNodeDeclaredFeature",
    "AssignedPodAdd",
    "AssignedPodUpdatePodLabel",
    "AssignedPodUpdatePodScaleDown",
    "AssignedPodDelete",
    "UnschedulablePodUpdatePodSchedulingGatesEliminated",
    "UnschedulablePodUpdatePodToleration",
    "UnschedulablePodUpdatePodLabel",
    "UnschedulablePodUpdatePodScaleDown",
    "UnschedulablePodUpdate",
    "PersistentVolumeClaimAdd",
    "PersistentVolumeClaimUpdate",
    "PersistentVolumeAdd",
    "PersistentVolumeUpdate",
    "storage.k8s.io/StorageClassAdd",
    "storage.k8s.io/StorageClassUpdate",
    "storage.k8s.io/CSINodeAdd",
    "storage.k8s.io/CSINodeUpdate",
    "storage.k8s.io/CSIDriverUpdate",
    "storage.k8s.io/CSIStorageCapacityAdd",
    "storage.k8s.io/CSIStorageCapacityUpdate",
    "storage.k8s.io/VolumeAttachmentDelete",
    "NodeImageInventoryUpdate",
};

constexpr std::uint32_t any_of(std::initializer_list<EventKind> kinds) {
  std::uint32_t out = 0;
  for (const EventKind kind : kinds) out |= 1U << static_cast<unsigned>(kind);
  return out;
}

constexpr std::array<std::uint32_t, placement::kPluginCount> kEventMasks = [] {
  using enum EventKind;
  return std::array<std::uint32_t, placement::kPluginCount>{
      any_of({PodGates}),                           // SchedulingGates
      0,                                            // PrioritySort
      any_of({NodeAdd}),                            // NodeName
      any_of({NodeAdd, NodeTaint, PodToleration}),  // NodeUnschedulable
      any_of({NodeAdd, NodeTaint, PodToleration}),  // TaintToleration
      any_of({NodeAdd, NodeLabel}),                 // NodeAffinity
      any_of({NodeAdd, AssignedPodDelete}),         // NodePorts
      any_of({NodeAdd, NodeAllocatable, AssignedPodDelete, AssignedPodScaleDown,
              PodScaleDown}),                          // NodeResourcesFit
      any_of({NodeAdd, AssignedPodDelete, ClaimAdd}),  // VolumeRestrictions
      any_of({AssignedPodDelete, ClaimAdd, CsiNodeAdd, CsiNodeUpdate, CsiDriverUpdate,
              VolumeAttachmentDelete}),  // NodeVolumeLimits
      any_of({NodeAdd, NodeLabel, ClaimAdd, ClaimUpdate, VolumeAdd, VolumeUpdate, ClassAdd,
              ClassUpdate, CsiNodeAdd, CsiNodeUpdate, CsiDriverUpdate, CapacityAdd,
              CapacityUpdate}),  // VolumeBinding
      any_of({NodeAdd, NodeLabel, ClaimAdd, ClaimUpdate, VolumeAdd, VolumeUpdate,
              ClassAdd}),  // VolumeZone
      any_of({AssignedPodAdd, AssignedPodLabel, AssignedPodDelete, NodeAdd, NodeDelete, NodeLabel,
              NodeTaint, PodLabel, PodToleration}),  // PodTopologySpread
      any_of({AssignedPodAdd, AssignedPodLabel, AssignedPodDelete, NodeAdd, NodeLabel,
              PodLabel}),                       // InterPodAffinity
      any_of({NodeAdd, NodeLabel, PodUpdate}),  // DynamicResources
      any_of({AssignedPodDelete}),              // DefaultPreemption
      0,                                        // …BalancedAllocation
      any_of({NodeAdd, Inventory}),             // ImageLocality
      0,                                        // DefaultBinder
      any_of({NodeAdd, NodeFeature}),           // NodeDeclaredFeatures
  };
}();

bool same_taints(const std::vector<kube::Taint>& a, const std::vector<kube::Taint>& b) {
  return std::ranges::equal(a, b, [](const kube::Taint& left, const kube::Taint& right) {
    return left.key == right.key && left.value == right.value && left.effect == right.effect;
  });
}

// True if an amount has increased or is new.
bool any_grew(const kube::ResourceList& before, const kube::ResourceList& now) {
  return std::ranges::any_of(now, [&](const auto& entry) {
    const auto old =
        std::ranges::find_if(before, [&](const auto& other) { return other.first == entry.first; });
    if (old == before.end()) return true;
    if (old->second == entry.second) return false;
    const auto was = parse_quantity(old->second), is = parse_quantity(entry.second);
    return !was || !is || *is > *was;
  });
}

bool same_conditions(const kube::Pod& a, const kube::Pod& b) {
  return std::ranges::equal(a.status.conditions, b.status.conditions,
                            [](const kube::Condition& left, const kube::Condition& right) {
                              return left.type == right.type && left.reason == right.reason;
                            });
}

bool same_resources(const std::vector<kube::ContainerStatus>& a,
                    const std::vector<kube::ContainerStatus>& b) {
  return std::ranges::equal(
      a, b, [](const kube::ContainerStatus& left, const kube::ContainerStatus& right) {
        return left.requests == right.requests && left.allocated == right.allocated;
      });
}

bool same_requests(const std::vector<kube::Container>& a, const std::vector<kube::Container>& b) {
  return std::ranges::equal(a, b, {}, &kube::Container::requests, &kube::Container::requests);
}

// Compares what counts on the node: during a resize that is the larger of the requested and the
// allocated amount.
bool counted_requests_shrank(const kube::Pod& before, const kube::Pod& now) {
  if (same_requests(before.spec.containers, now.spec.containers) &&
      same_requests(before.spec.init_containers, now.spec.init_containers) &&
      before.spec.requests == now.spec.requests && before.status.requests == now.status.requests &&
      before.status.allocated == now.status.allocated &&
      same_resources(before.status.containers, now.status.containers) &&
      same_resources(before.status.init_containers, now.status.init_containers) &&
      same_conditions(before, now))
    return false;  // as for nearly every change
  placement::ResourceNames names;
  const placement::PodRequests was = placement::requests_of(before, names),
                               is = placement::requests_of(now, names);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (const auto id = static_cast<placement::ResourceId>(i); is.of(id) < was.of(id)) return true;
  return false;
}

bool requests_shrank(const kube::Pod& before, const kube::Pod& now) {
  const auto shrank = [](const std::vector<kube::Container>& a,
                         const std::vector<kube::Container>& b) {
    for (std::size_t index = 0; index < std::min(a.size(), b.size()); ++index)
      if (any_grew(b[index].requests, a[index].requests)) return true;
    return false;
  };
  return shrank(before.spec.containers, now.spec.containers) ||
         shrank(before.spec.init_containers, now.spec.init_containers) ||
         any_grew(now.spec.requests, before.spec.requests);
}

}  // namespace

std::string_view label_of(EventKind kind) {
  return kEventLabels[static_cast<std::size_t>(kind)];
}

std::uint32_t event_mask(PluginId plugin) {
  return kEventMasks[static_cast<std::size_t>(plugin)];
}

bool may_help(PluginId plugin, const ClusterEvent& event, const kube::Pod& pod) {
  if ((event_mask(plugin) & event_bit(event.kind)) == 0) return false;
  switch (plugin) {
    case PluginId::NodeUnschedulable:
      return event.node == nullptr || !event.node->unschedulable;
    case PluginId::NodeResourcesFit:
      if (event.kind == EventKind::NodeAllocatable && event.node && event.node_before)
        return any_grew(event.node_before->allocatable, event.node->allocatable);
      return true;
    case PluginId::DefaultPreemption:
      return false;  // the other plugins get the events of evicted pods
    case PluginId::NodeName:
      return event.node == nullptr || pod.spec.node_name.empty() ||
             pod.spec.node_name == event.node->meta.name;
    default:
      return true;
  }
}

std::vector<EventKind> changes_of(const kube::Node& before, const kube::Node& now) {
  std::vector<EventKind> out;
  if (!std::ranges::equal(before.allocatable, now.allocatable))
    out.push_back(EventKind::NodeAllocatable);
  if (!std::ranges::equal(before.meta.labels, now.meta.labels)) out.push_back(EventKind::NodeLabel);
  if (before.declared_features != now.declared_features) out.push_back(EventKind::NodeFeature);
  if (before.unschedulable != now.unschedulable || !same_taints(before.taints, now.taints))
    out.push_back(EventKind::NodeTaint);
  if (kube::find_label(before.meta.annotations, loop::kImagesAnnotation) !=
      kube::find_label(now.meta.annotations, loop::kImagesAnnotation))
    out.push_back(EventKind::Inventory);
  return out;
}

std::vector<EventKind> changes_of_assigned(const kube::Pod& before, const kube::Pod& now) {
  std::vector<EventKind> out;
  if (!std::ranges::equal(before.meta.labels, now.meta.labels))
    out.push_back(EventKind::AssignedPodLabel);
  if (counted_requests_shrank(before, now)) out.push_back(EventKind::AssignedPodScaleDown);
  return out;
}

std::vector<EventKind> changes_of_waiting(const kube::Pod& before, const kube::Pod& now) {
  std::vector<EventKind> out;
  if (!std::ranges::equal(before.meta.labels, now.meta.labels)) out.push_back(EventKind::PodLabel);
  if (requests_shrank(before, now)) out.push_back(EventKind::PodScaleDown);
  if (before.spec.scheduling_gates != now.spec.scheduling_gates) out.push_back(EventKind::PodGates);
  if (before.spec.tolerations != now.spec.tolerations) out.push_back(EventKind::PodToleration);
  if (out.empty() && before.meta.generation != now.meta.generation)
    out.push_back(EventKind::PodUpdate);
  return out;
}

}  // namespace plim::sched
