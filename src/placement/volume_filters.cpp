// VolumeRestrictions and VolumeZone.
#include <algorithm>

#include <fmt/format.h>

#include "placement/plugins.hpp"

namespace plim::placement {
namespace {

std::string claim_missing(std::string_view name) {
  return fmt::format("persistentvolumeclaim \"{}\" not found", name);
}

class RestrictionsFilter final : public FilterOf<RestrictionsFilter> {
 public:
  RestrictionsFilter(Cycle& cycle, std::vector<std::string> exclusive, std::int64_t conflicts)
      : cycle_(cycle),
        exclusive_(std::move(exclusive)),
        conflicts_(conflicts),
        clash_(cycle.verdicts.id_of(PluginId::VolumeRestrictions, RejectCode::unschedulable,
                                    "node(s) had no available disk")),
        in_use_(cycle.verdicts.id_of(
            PluginId::VolumeRestrictions, RejectCode::unschedulable,
            "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
            "already in-use by another pod")) {}

  Verdict judge(NodeIndex row) const {
    for (const kube::PodVolume& volume : cycle_.in.pod.spec.volumes)
      if (!volume.disk.empty() && clashes(volume, row)) return clash_;
    return conflicts_ > 0 ? in_use_ : kFits;
  }

  void pod_moved(const PodRecord& record, NodeIndex row, int sign) override {
    if (record.pod->meta.ns == cycle_.in.pod.meta.ns)
      for (const kube::PodVolume& volume : record.pod->spec.volumes)
        if (std::ranges::find(exclusive_, volume.claim.view()) != exclusive_.end())
          conflicts_ += sign;
    // clashes() reads the pods on the node, which still include pods that are only imagined away.
    if (sign < 0)
      away_.emplace_back(&record, row);
    else
      std::erase(away_, std::pair(&record, row));
  }

 private:
  bool clashes(const kube::PodVolume& volume, NodeIndex row) const {
    return std::ranges::any_of(cycle_.cluster.pods().on(row), [&](const auto& there) {
      if (std::ranges::find(away_, std::pair<const PodRecord*, NodeIndex>(there.get(), row)) !=
          away_.end())
        return false;
      return std::ranges::any_of(there->pod->spec.volumes, [&](const kube::PodVolume& other) {
        return !other.disk.empty() && disks_clash(volume.disk, other.disk);
      });
    });
  }

  Cycle& cycle_;
  std::vector<std::string> exclusive_;  // claims for one pod only
  std::int64_t conflicts_;
  std::vector<std::pair<const PodRecord*, NodeIndex>> away_;
  Verdict clash_, in_use_;
};

constexpr std::string_view kNodeZoneLabels[] = {
    "topology.kubernetes.io/zone", "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"};

class VolumeZoneFilter final : public FilterOf<VolumeZoneFilter> {
 public:
  VolumeZoneFilter(Cycle& cycle, const std::vector<const VolumeTable::Volume*>& volumes)
      : labels_(cycle.cluster.table().labels()),
        refused_(cycle.verdicts.id_of(PluginId::VolumeZone, RejectCode::unresolvable,
                                      "node(s) had no available volume zone")) {
    for (std::size_t i = 0; i < std::size(kNodeZoneLabels); ++i)
      keys_[i] = labels_.key_id(kNodeZoneLabels[i]);
    for (const VolumeTable::Volume* volume : volumes)
      for (const auto& [label, values] : volume->topology) {
        Wanted& made = wanted_.emplace_back();
        auto at = static_cast<std::size_t>(std::ranges::find(kNodeZoneLabels, label) -
                                           std::begin(kNodeZoneLabels));
        made.key = keys_[at];
        made.newer_key = keys_[at % 2];  // the beta labels follow the others in the same order
        for (const std::string& value : values)
          if (LabelValue known = labels_.find_value(value); known != 0)
            made.values.push_back(known);
      }
  }

  Verdict judge(NodeIndex row) const {
    if (std::ranges::none_of(keys_, [&](LabelKey key) { return labels_.value(row, key) != 0; }))
      return kFits;
    for (const Wanted& wanted : wanted_) {
      LabelValue value = labels_.value(row, wanted.key);
      if (value == 0) value = labels_.value(row, wanted.newer_key);
      if (std::ranges::find(wanted.values, value) == wanted.values.end()) return refused_;
    }
    return kFits;
  }

 private:
  struct Wanted {
    LabelKey key = 0, newer_key = 0;
    std::vector<LabelValue> values;
  };

  NodeLabels& labels_;
  LabelKey keys_[4] = {};
  std::vector<Wanted> wanted_;
  Verdict refused_;
};

void refuse(Cycle& cycle, PluginId plugin, std::string message) {
  cycle.failure = {plugin, RejectCode::unresolvable, std::move(message)};
}

// Why VolumeZone rejects a pod with this unbound claim; "" if it does not.
std::string wrong_for_zones(const VolumeClaim& claim, const VolumeTable& table) {
  if (claim.storage_class.empty())
    return "PersistentVolumeClaim had no pv name and storageClass name";
  const StorageClass* made = table.storage_class(claim.storage_class);
  if (made == nullptr)
    return fmt::format("storageclass.storage.k8s.io \"{}\" not found", claim.storage_class);
  return made->waits_for_consumer ? "" : "PersistentVolume had no name";
}

}  // namespace

std::unique_ptr<Filter> make_volume_restrictions_filter(Cycle& cycle) {
  const kube::Pod& pod = cycle.in.pod;
  const VolumeTable& volumes = cycle.cluster.volumes();
  bool has_disks = false;
  std::int64_t conflicts = 0;
  std::vector<std::string> exclusive;
  for (const kube::PodVolume& volume : pod.spec.volumes) {
    has_disks = has_disks || !volume.disk.empty();
    if (volume.claim.empty()) continue;
    const VolumeClaim* claim = volumes.claim(pod.meta.ns, volume.claim);
    if (claim == nullptr) {
      refuse(cycle, PluginId::VolumeRestrictions, claim_missing(volume.claim));
      return nullptr;
    }
    if (!claim->once_pod || std::ranges::find(exclusive, claim->name) != exclusive.end()) continue;
    exclusive.push_back(claim->name);
    if (volumes.users(pod.meta.ns, claim->name) > 0) ++conflicts;
  }
  if (!has_disks && conflicts == 0) return nullptr;
  return std::make_unique<RestrictionsFilter>(cycle, std::move(exclusive), conflicts);
}

std::unique_ptr<Filter> make_volume_zone_filter(Cycle& cycle) {
  const kube::Pod& pod = cycle.in.pod;
  const VolumeTable& table = cycle.cluster.volumes();
  std::vector<const VolumeTable::Volume*> volumes;
  for (const kube::PodVolume& one : pod.spec.volumes) {
    if (one.claim.empty()) continue;
    const VolumeClaim* claim = table.claim(pod.meta.ns, one.claim);
    if (claim == nullptr) {
      refuse(cycle, PluginId::VolumeZone, claim_missing(one.claim));
      return nullptr;
    }
    if (claim->volume.empty()) {
      std::string wrong = wrong_for_zones(*claim, table);
      if (wrong.empty()) continue;  // VolumeBinding handles it
      refuse(cycle, PluginId::VolumeZone, std::move(wrong));
      return nullptr;
    }
    const VolumeTable::Volume* volume = table.volume(claim->volume);
    if (volume == nullptr) {
      refuse(cycle, PluginId::VolumeZone,
             fmt::format("persistentvolume \"{}\" not found", claim->volume));
      return nullptr;
    }
    if (!volume->topology.empty()) volumes.push_back(volume);
  }
  if (volumes.empty()) return nullptr;
  return std::make_unique<VolumeZoneFilter>(cycle, volumes);
}

}  // namespace plim::placement
