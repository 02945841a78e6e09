// VolumeRestrictions, VolumeBinding for claims that are bound, and VolumeZone.
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

class BoundVolumesFilter final : public FilterOf<BoundVolumesFilter> {
 public:
  BoundVolumesFilter(Cycle& cycle, std::vector<const VolumeTable::Volume*> volumes, bool any_gone)
      : table_(cycle.cluster.table()), volumes_(std::move(volumes)), any_gone_(any_gone) {
    auto refused = [&](std::vector<std::string> reasons) {
      return cycle.verdicts.id_of(
          {PluginId::VolumeBinding, RejectCode::unresolvable, std::move(reasons)});
    };
    constexpr std::string_view kElsewhere = "node(s) didn't match PersistentVolume's node affinity";
    constexpr std::string_view kGone =
        "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";
    elsewhere_ = refused({std::string(kElsewhere)});
    gone_ = refused({std::string(kGone)});
  }

  Verdict judge(NodeIndex row) const {
    bool fits = std::ranges::all_of(volumes_, [&](const VolumeTable::Volume* volume) {
      return !volume->has_affinity || volume->affinity.required_match(table_, row);
    });
    if (!fits) return elsewhere_;
    return any_gone_ ? gone_ : kFits;
  }

 private:
  const NodeTable& table_;
  std::vector<const VolumeTable::Volume*> volumes_;
  bool any_gone_;
  Verdict elsewhere_ = kFits, gone_ = kFits;
};

constexpr std::string_view kNodeZoneLabels[] = {
    "topology.kubernetes.io/zone", "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"};

class VolumeZoneFilter final : public FilterOf<VolumeZoneFilter> {
 public:
  VolumeZoneFilter(Cycle& cycle, std::vector<const VolumeTable::Volume*> volumes)
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

std::unique_ptr<Filter> make_volume_binding_filter(Cycle& cycle) {
  constexpr auto kPlugin = PluginId::VolumeBinding;
  const kube::Pod& pod = cycle.in.pod;
  const VolumeTable& table = cycle.cluster.volumes();
  std::vector<const VolumeClaim*> claims;
  for (const kube::PodVolume& volume : pod.spec.volumes) {
    std::string name = claim_name(pod, volume);
    if (name.empty()) continue;
    const VolumeClaim* claim = table.claim(pod.meta.ns, name);
    std::string wrong;
    if (claim == nullptr)
      wrong = volume.ephemeral ? fmt::format(
                                     "waiting for ephemeral volume controller to create the "
                                     "persistentvolumeclaim \"{}\"",
                                     name)
                               : claim_missing(name);
    else if (claim->lost)
      wrong =
          fmt::format("persistentvolumeclaim \"{}\" bound to non-existent persistentvolume \"{}\"",
                      name, claim->volume);
    else if (claim->deleted)
      wrong = fmt::format("persistentvolumeclaim \"{}\" is being deleted", name);
    if (!wrong.empty()) {
      refuse(cycle, kPlugin, std::move(wrong));
      return nullptr;
    }
    claims.push_back(claim);
  }
  if (claims.empty()) return nullptr;
  std::vector<const VolumeTable::Volume*> volumes;
  bool any_gone = false, any_waits = false;
  for (const VolumeClaim* claim : claims) {
    if (claim->volume.empty() || !claim->bound) {
      const StorageClass* made = table.storage_class(claim->storage_class);
      if (made == nullptr || !made->waits_for_consumer) {
        refuse(cycle, kPlugin, "pod has unbound immediate PersistentVolumeClaims");
        return nullptr;
      }
      any_waits = true;
      continue;
    }
    const VolumeTable::Volume* volume = table.volume(claim->volume);
    if (volume != nullptr)
      volumes.push_back(volume);
    else
      any_gone = true;
  }
  if (any_waits) {  // until this scheduler can choose and provision volumes
    refuse(cycle, kPlugin,
           "claims that wait for their first consumer are not supported yet by plimsoll");
    return nullptr;
  }
  return std::make_unique<BoundVolumesFilter>(cycle, std::move(volumes), any_gone);
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
    if (claim->volume.empty()) continue;  // VolumeBinding handles it
    const VolumeTable::Volume* volume = table.volume(claim->volume);
    if (volume == nullptr) {
      refuse(cycle, PluginId::VolumeZone,
             fmt::format("persistentvolume \"{}\" not found", claim->volume));
      return nullptr;
    }
    if (!volume->topology.empty()) volumes.push_back(volume);
  }
  if (volumes.empty()) return nullptr;
  return std::make_unique<VolumeZoneFilter>(cycle, std::move(volumes));
}

}  // namespace plim::placement
