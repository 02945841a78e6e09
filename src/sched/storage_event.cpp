#include "sched/storage_event.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "kube/selector.hpp"

namespace plim::sched {
namespace {

constexpr std::array<std::string_view, 4> kZoneKeys{
    "topology.kubernetes.io/zone", "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"};

bool same_zones(const kube::Labels& a, const kube::Labels& b) {
  return std::ranges::all_of(kZoneKeys, [&](std::string_view key) {
    return kube::find_label(a, key) == kube::find_label(b, key);
  });
}

bool any_limit_grew(const placement::CsiNode& before, const placement::CsiNode& now) {
  return std::ranges::any_of(now.drivers, [&](const placement::CsiNode::Driver& driver) {
    const auto old =
        std::ranges::find(before.drivers, driver.name, &placement::CsiNode::Driver::name);
    // A driver that was missing may be the reason, and so may a limit that is gone.
    if (old == before.drivers.end() || (old->limit && !driver.limit)) return true;
    return driver.limit.value_or(0) > old->limit.value_or(0);
  });
}

}  // namespace

StorageEvent change_of(const placement::VolumeClaim* /*before*/,
                       const placement::VolumeClaim& now) {
  return {.ns = now.ns, .name = now.name};
}

StorageEvent change_of(const placement::PersistentVolume* before,
                       const placement::PersistentVolume& now) {
  return {.name = now.name,
          .helps_zones = before == nullptr || !same_zones(before->labels, now.labels)};
}

StorageEvent change_of(const placement::StorageClass* before, const placement::StorageClass& now) {
  return {.name = now.name,
          .helps_binding = before == nullptr || before->topologies != now.topologies,
          .helps_zones = before == nullptr && now.waits_for_consumer};
}

StorageEvent change_of(const placement::CsiDriver* before, const placement::CsiDriver& now) {
  return {
      .name = now.name,
      .helps_binding = before != nullptr && before->storage_capacity && !now.storage_capacity,
      .helps_limits = before != nullptr && before->prevent_if_missing && !now.prevent_if_missing};
}

StorageEvent change_of(const placement::CsiNode* before, const placement::CsiNode& now) {
  return {.name = now.name,
          .helps_binding = before == nullptr || before->migrated != now.migrated,
          .helps_limits = before == nullptr || any_limit_grew(*before, now)};
}

StorageEvent change_of(const placement::StorageCapacity* before,
                       const placement::StorageCapacity& now) {
  const bool grew = now.limit() && (before == nullptr || !before->limit() ||
                                    now.limit()->value() > before->limit()->value());
  return {.name = now.key, .helps_binding = before == nullptr || grew};
}

StorageEvent change_of(const placement::VolumeAttachment* /*before*/,
                       const placement::VolumeAttachment& now) {
  return {.name = now.attacher};
}

}  // namespace plim::sched
