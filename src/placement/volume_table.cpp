#include "placement/volume_table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "kube/paths.hpp"

namespace plim::placement {
namespace {

constexpr std::string_view kZoneLabels[] = {
    "topology.kubernetes.io/zone", "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"};

std::string full_name(std::string_view ns, std::string_view name) {
  return fmt::format("{}/{}", ns, name);
}

// "a__b" means either a or b.
std::vector<std::string> zones_of(std::string_view text) {
  std::vector<std::string> out;
  for (;;) {
    auto end = text.find("__");
    out.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 2);
  }
}

bool share_a_monitor(const json::value& one, const json::value& other) {
  const json::array& others = kube::list_at(other, "RBDVolumeSource.monitors");
  return std::ranges::any_of(kube::list_at(one, "RBDVolumeSource.monitors"),
                             [&](const json::value& monitor) {
                               return std::ranges::find(others, monitor) != others.end();
                             });
}

std::string_view text_or(const json::value& value, kube::TextPath path, std::string_view fallback) {
  std::string_view out = kube::text_at(value, path);
  return out.empty() ? fallback : out;
}

}  // namespace

std::string claim_name(const kube::Pod& pod, const kube::PodVolume& volume) {
  if (volume.ephemeral) return fmt::format("{}-{}", pod.meta.name, volume.name.view());
  return std::string(volume.claim.view());
}

bool disks_clash(std::string_view one, std::string_view other) {
  auto a = parse_json(one), b = parse_json(other);
  if (!a || !b) return false;
  auto same = [&](kube::AnyPath kind, kube::TextPath name) {
    return kube::find(*a, kind) != nullptr && kube::find(*b, kind) != nullptr &&
           kube::text_at(*a, name) == kube::text_at(*b, name);
  };
  auto both_read = [&](kube::BoolPath read_only) {
    return kube::bool_at(*a, read_only) && kube::bool_at(*b, read_only);
  };
  if (same("Volume.awsElasticBlockStore", "Volume.awsElasticBlockStore.volumeID")) return true;
  if (same("Volume.gcePersistentDisk", "Volume.gcePersistentDisk.pdName"))
    return !both_read("Volume.gcePersistentDisk.readOnly");
  if (same("Volume.iscsi", "Volume.iscsi.iqn")) return !both_read("Volume.iscsi.readOnly");
  if (!same("Volume.rbd", "Volume.rbd.image")) return false;
  const json::value &x = *kube::find(*a, "Volume.rbd"), &y = *kube::find(*b, "Volume.rbd");
  return text_or(x, "RBDVolumeSource.pool", "rbd") == text_or(y, "RBDVolumeSource.pool", "rbd") &&
         share_a_monitor(x, y) && !both_read("Volume.rbd.readOnly");
}

void VolumeTable::set_claim(VolumeClaim claim) {
  std::string key = full_name(claim.ns, claim.name);
  claims_.insert_or_assign(std::move(key), std::move(claim));
}

void VolumeTable::remove_claim(std::string_view ns, std::string_view name) {
  claims_.erase(full_name(ns, name));
}

void VolumeTable::set_volume(const PersistentVolume& volume) {
  Volume made;
  if (volume.node_affinity.is_object()) {
    made.has_affinity = true;
    json::object required{{kube::key("NodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"),
                           volume.node_affinity}};
    made.affinity = read_node_rules(required, table_);
  }
  for (std::string_view label : kZoneLabels)
    if (auto value = kube::find_label(volume.labels, label))
      made.topology.emplace_back(label, zones_of(*value));
  volumes_.insert_or_assign(volume.name, std::move(made));
}

void VolumeTable::remove_volume(std::string_view name) {
  volumes_.erase(std::string(name));
}

void VolumeTable::set_class(const StorageClass& made) {
  classes_.insert_or_assign(made.name, made);
}

void VolumeTable::remove_class(std::string_view name) {
  classes_.erase(std::string(name));
}

const VolumeClaim* VolumeTable::claim(std::string_view ns, std::string_view name) const {
  auto at = claims_.find(full_name(ns, name));
  return at == claims_.end() ? nullptr : &at->second;
}

const VolumeTable::Volume* VolumeTable::volume(std::string_view name) const {
  auto at = volumes_.find(name);
  return at == volumes_.end() ? nullptr : &at->second;
}

const StorageClass* VolumeTable::storage_class(std::string_view name) const {
  auto at = classes_.find(name);
  return at == classes_.end() ? nullptr : &at->second;
}

void VolumeTable::count(const kube::Pod& pod, int sign) {
  for (const kube::PodVolume& volume : pod.spec.volumes) {
    if (volume.claim.empty()) continue;
    auto at = users_.try_emplace(full_name(pod.meta.ns, volume.claim), 0).first;
    if ((at->second += sign) == 0) users_.erase(at);
  }
}

std::int64_t VolumeTable::users(std::string_view ns, std::string_view claim) const {
  auto at = users_.find(full_name(ns, claim));
  return at == users_.end() ? 0 : at->second;
}

}  // namespace plim::placement
