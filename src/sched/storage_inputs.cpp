#include "sched/storage_inputs.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "placement/side_objects.hpp"
#include "sched/storage_event.hpp"

namespace plim::sched {
namespace {

kube::Resource core_kind(std::string plural, std::string kind, bool namespaced) {
  return {.group = "",
          .version = "v1",
          .plural = std::move(plural),
          .kind = std::move(kind),
          .namespaced = namespaced};
}

kube::Resource storage_kind(std::string plural, std::string kind, bool namespaced = false) {
  return {.group = "storage.k8s.io",
          .version = "v1",
          .plural = std::move(plural),
          .kind = std::move(kind),
          .namespaced = namespaced};
}

bool needs_storage(const placement::Needs& needs) {
  return needs.storage;
}

bool needs_csi(const placement::Needs& needs) {
  return needs.binding || needs.limits;
}

bool needs_capacities(const placement::Needs& needs) {
  return needs.binding;
}

bool needs_attachments(const placement::Needs& needs) {
  return needs.limits;
}

}  // namespace

StorageInputs::StorageInputs(const Executor& loop, std::shared_ptr<kube::Client> client,
                             Engine& engine, kube::InternPool& pool, OnEvent on_event,
                             const std::function<void()>& on_synced, Clock& clock)
    : loop_(loop),
      client_(std::move(client)),
      engine_(engine),
      pool_(pool),
      on_event_(std::move(on_event)),
      clock_(clock) {
  follow_storage();
  follow_csi();
  for (const Watched& one : watched_) one.follower->on_synced(on_synced);
}

template <class T>
void StorageInputs::follow(const kube::Resource& resource,
                           T (*read)(const kube::ObjectMeta&, const json::value&),
                           std::function<void(const T&)> set, std::function<void(const T&)> remove,
                           std::optional<Kinds> kinds, bool (*needed)(const placement::Needs&)) {
  using Of = FollowerOf<T>;
  typename Of::TellChange changed = [this, set = std::move(set), kinds](
                                        const typename Of::Kept* before,
                                        const typename Of::Kept& now) {
    set(now.value);
    if (!kinds) return;
    on_event_({.kind = before == nullptr ? kinds->add : kinds->update,
               .storage = std::make_shared<const StorageEvent>(
                   change_of(before == nullptr ? nullptr : &before->value, now.value))});
  };
  typename Of::Tell gone = [remove = std::move(remove)](const typename Of::Kept& kept) {
    remove(kept.value);
  };
  watched_.push_back({.follower = std::make_unique<Of>(loop_, client_, resource, pool_, read,
                                                       std::move(changed), std::move(gone), clock_),
                      .needed = needed});
}

void StorageInputs::follow_storage() {
  placement::VolumeTable& volumes = engine_.volumes();
  follow<placement::VolumeClaim>(
      core_kind("persistentvolumeclaims", "PersistentVolumeClaim", true), placement::read_claim,
      [&volumes](const placement::VolumeClaim& claim) { volumes.set_claim(claim); },
      [&volumes](const placement::VolumeClaim& claim) {
        volumes.remove_claim(claim.ns, claim.name);
      },
      Kinds{EventKind::ClaimAdd, EventKind::ClaimUpdate}, needs_storage);
  follow<placement::PersistentVolume>(
      core_kind("persistentvolumes", "PersistentVolume", false), placement::read_volume,
      [&volumes](const placement::PersistentVolume& volume) { volumes.set_volume(volume); },
      [&volumes](const placement::PersistentVolume& volume) { volumes.remove_volume(volume.name); },
      Kinds{EventKind::VolumeAdd, EventKind::VolumeUpdate}, needs_storage);
  follow<placement::StorageClass>(
      storage_kind("storageclasses", "StorageClass"), placement::read_class,
      [&volumes](const placement::StorageClass& made) { volumes.set_class(made); },
      [&volumes](const placement::StorageClass& made) { volumes.remove_class(made.name); },
      Kinds{EventKind::ClassAdd, EventKind::ClassUpdate}, needs_storage);
}

void StorageInputs::follow_csi() {
  placement::CsiTable& csi = engine_.volumes().csi();
  follow<placement::CsiDriver>(
      storage_kind("csidrivers", "CSIDriver"), placement::read_driver,
      [&csi](const placement::CsiDriver& driver) { csi.set_driver(driver); },
      [&csi](const placement::CsiDriver& driver) { csi.remove_driver(driver.name); },
      Kinds{EventKind::CsiDriverUpdate, EventKind::CsiDriverUpdate}, needs_csi);
  follow<placement::CsiNode>(
      storage_kind("csinodes", "CSINode"), placement::read_csi_node,
      [&csi](const placement::CsiNode& node) { csi.set_node(node); },
      [&csi](const placement::CsiNode& node) { csi.remove_node(node.name); },
      Kinds{EventKind::CsiNodeAdd, EventKind::CsiNodeUpdate}, needs_csi);
  follow<placement::StorageCapacity>(
      storage_kind("csistoragecapacities", "CSIStorageCapacity", true), placement::read_capacity,
      [&csi](const placement::StorageCapacity& one) { csi.set_capacity(one); },
      [&csi](const placement::StorageCapacity& one) { csi.remove_capacity(one); },
      Kinds{EventKind::CapacityAdd, EventKind::CapacityUpdate}, needs_capacities);
  follow<placement::VolumeAttachment>(
      storage_kind("volumeattachments", "VolumeAttachment"), placement::read_attachment,
      [&csi](const placement::VolumeAttachment& one) { csi.set_attachment(one); },
      [this, &csi](const placement::VolumeAttachment& one) {
        csi.remove_attachment(one);
        on_event_(
            {.kind = EventKind::VolumeAttachmentDelete,
             .storage = std::make_shared<const StorageEvent>(StorageEvent{.name = one.attacher})});
      },
      std::nullopt, needs_attachments);
}

void StorageInputs::start(const placement::Needs& needs) {
  for (Watched& one : watched_)
    if (one.needed(needs) && !std::exchange(one.started, true)) one.follower->start();
}

Task<void> StorageInputs::stop() {
  for (const Watched& one : watched_) co_await one.follower->stop();
}

bool StorageInputs::synced() const {
  return std::ranges::all_of(
      watched_, [](const Watched& one) { return !one.started || one.follower->synced(); });
}

}  // namespace plim::sched
