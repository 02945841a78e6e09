#include "placement/volume_table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "kube/paths.hpp"
#include "placement/migrated_volumes.hpp"

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

template <class Value>
const Value* find_in(const TextMap<Value>& map, std::string_view key) {
  const auto at = map.find(key);
  return at == map.end() ? nullptr : &at->second;
}

NodeRules read_volume_affinity(const json::value& required, NodeTable& table) {
  return read_node_rules(
      json::object{
          {kube::key("NodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"), required}},
      table);
}

// Local volumes name one host each. With the label's value at hand a search need not compare
// every volume with every node.
void pin(VolumeTable::Volume& volume) {
  if (volume.affinity.required.size() != 1) return;
  using Op = kube::LabelRequirement::Op;
  for (const NodeRequirement& one : volume.affinity.required[0].labels)
    if ((one.op == Op::in || one.op == Op::equals) && one.values.size() == 1) {
      volume.pinned = true;
      volume.pin_key = one.key;
      volume.pin_value = one.values[0];
      return;
    }
}

}  // namespace

std::string claim_name(const kube::Pod& pod, const kube::PodVolume& volume) {
  if (volume.ephemeral) return fmt::format("{}-{}", pod.meta.name, volume.name.view());
  return std::string(volume.claim.view());
}

bool uses_claims(const kube::Pod& pod) {
  return std::ranges::any_of(pod.spec.volumes, [](const kube::PodVolume& volume) {
    return !volume.claim.empty() || volume.ephemeral;
  });
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
  made.object = volume;
  made.has_affinity = volume.node_affinity.is_object();
  if (made.has_affinity) {
    made.affinity = read_volume_affinity(volume.node_affinity, table_);
    pin(made);
  }
  if (!volume.source.in_tree.empty()) {
    const json::value migrated = csi_affinity(volume);
    made.has_csi_affinity = migrated.is_object();
    if (made.has_csi_affinity) made.csi_affinity = read_volume_affinity(migrated, table_);
  }
  made.object.node_affinity = nullptr;
  for (std::string_view label : kZoneLabels)
    if (auto value = kube::find_label(volume.labels, label))
      made.topology.emplace_back(label, zones_of(*value));
  if (auto held = reserved_.find(volume.name); held != reserved_.end())
    made.reserved = &held->second.claim;
  auto known = volumes_.find(volume.name);
  if (known != volumes_.end() && known->second.object.storage_class != volume.storage_class) {
    remove_volume(volume.name);
    known = volumes_.end();
  }
  if (known != volumes_.end()) {
    known->second = std::move(made);
    return;
  }
  known = volumes_.emplace(volume.name, std::move(made)).first;
  by_class_[volume.storage_class].push_back(&known->second);
}

void VolumeTable::remove_volume(std::string_view name) {
  auto at = volumes_.find(name);
  if (at == volumes_.end()) return;
  auto group = by_class_.find(at->second.object.storage_class);
  std::erase(group->second, &at->second);
  if (group->second.empty()) by_class_.erase(group);
  volumes_.erase(at);
}

void VolumeTable::set_class(const StorageClass& made) {
  classes_.insert_or_assign(made.name, made);
}

void VolumeTable::remove_class(std::string_view name) {
  classes_.erase(std::string(name));
}

const VolumeClaim* VolumeTable::claim(std::string_view ns, std::string_view name) const {
  return find_in(claims_, full_name(ns, name));
}

const VolumeTable::Volume* VolumeTable::volume(std::string_view name) const {
  return find_in(volumes_, name);
}

const StorageClass* VolumeTable::storage_class(std::string_view name) const {
  return find_in(classes_, name);
}

std::span<const VolumeTable::Volume* const> VolumeTable::volumes_of_class(
    std::string_view name) const {
  const auto* found = find_in(by_class_, name);
  if (found == nullptr) return {};
  return *found;
}

bool VolumeTable::fits_on(const Volume& volume, NodeIndex row) const {
  const std::string& in_tree = volume.object.source.in_tree;
  if (in_tree.empty()) return volume.fits_on(table_, row);
  const CsiNode* node = csi_.node(table_.name(row));
  if (node == nullptr || !node->has_migrated(in_tree)) return volume.fits_on(table_, row);
  return !volume.has_csi_affinity || volume.csi_affinity.required_match(table_, row);
}

const std::string* VolumeTable::selected_node(const VolumeClaim& claim) const {
  if (claim.selected_node) return &*claim.selected_node;
  if (selected_.empty()) return nullptr;
  const Selected* reserved = find_in(selected_, full_name(claim.ns, claim.name));
  return reserved == nullptr ? nullptr : &reserved->node;
}

void VolumeTable::reserve(const VolumePlan& plan, std::string_view node) {
  for (const VolumePlan::Static& one : plan.statics) {
    Reserved& held = reserved_[one.volume];
    held.claim = one.claim;
    ++held.pods;
    if (auto at = volumes_.find(one.volume); at != volumes_.end())
      at->second.reserved = &held.claim;
  }
  for (const VolumePlan::Provision& one : plan.provisions) {
    Selected& held = selected_[full_name(one.claim.ns, one.claim.name)];
    held.node = node;
    ++held.pods;
  }
}

void VolumeTable::release(const VolumePlan& plan) {
  for (const VolumePlan::Static& one : plan.statics) {
    auto held = reserved_.find(one.volume);
    if (held == reserved_.end() || --held->second.pods > 0) continue;
    if (auto at = volumes_.find(one.volume); at != volumes_.end()) at->second.reserved = nullptr;
    reserved_.erase(held);
  }
  for (const VolumePlan::Provision& one : plan.provisions) {
    auto held = selected_.find(full_name(one.claim.ns, one.claim.name));
    if (held != selected_.end() && --held->second.pods == 0) selected_.erase(held);
  }
}

void VolumeTable::count(const kube::Pod& pod, NodeIndex row, int sign) {
  for (const kube::PodVolume& volume : pod.spec.volumes) {
    if (!volume.claim.empty() || volume.ephemeral || !volume.disk.empty()) {
      if (uses_.size() <= row) uses_.resize(row + 1u);
      uses_[row] += sign;
    }
    if (volume.claim.empty()) continue;
    auto at = users_.try_emplace(full_name(pod.meta.ns, volume.claim), 0).first;
    at->second += sign;
    if (at->second == 0) users_.erase(at);
  }
}

std::int64_t VolumeTable::users(std::string_view ns, std::string_view claim) const {
  auto at = users_.find(full_name(ns, claim));
  return at == users_.end() ? 0 : at->second;
}

std::int64_t VolumeTable::uses_on(NodeIndex row) const {
  return row < uses_.size() ? uses_[row] : 0;
}

}  // namespace plim::placement
