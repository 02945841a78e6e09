#include "placement/volume_match.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace plim::placement {
namespace {

using Volume = VolumeTable::Volume;

constexpr std::string_view kNoProvisioner = "kubernetes.io/no-provisioner";

// Why the claim keeps the pod from being placed; "" if it does not.
std::string wrong_with(const VolumeClaim* claim, const kube::Pod& pod,
                       const kube::PodVolume& volume, const std::string& name) {
  if (claim == nullptr && volume.ephemeral)
    return fmt::format(
        "waiting for ephemeral volume controller to create the persistentvolumeclaim \"{}\"", name);
  if (claim == nullptr) return fmt::format("persistentvolumeclaim \"{}\" not found", name);
  if (claim->lost)
    return fmt::format("persistentvolumeclaim \"{}\" bound to non-existent persistentvolume \"{}\"",
                       name, claim->volume);
  if (claim->deleted) return fmt::format("persistentvolumeclaim \"{}\" is being deleted", name);
  if (volume.ephemeral && claim->controller != pod.meta.uid)
    return fmt::format("PVC {}/{} was not created for pod {}/{} (pod is not owner)", claim->ns,
                       name, pod.meta.ns.view(), pod.meta.name);
  return "";
}

std::uint64_t pin_of(LabelKey key, LabelValue value) {
  return std::uint64_t{key} << 32 | value;
}

bool has_modes(const Volume& volume, const VolumeClaim& claim) {
  return std::ranges::all_of(claim.access_modes, [&](const std::string& mode) {
    return std::ranges::find(volume.object.access_modes, mode) != volume.object.access_modes.end();
  });
}

bool smaller(const Volume* a, const Volume* b) {
  if (a->object.capacity != b->object.capacity) return a->object.capacity < b->object.capacity;
  return a->object.name < b->object.name;
}

Quantity size_of(const VolumeClaim& claim) {
  return claim.request.value_or(Quantity());
}

}  // namespace

PodClaims claims_of(const kube::Pod& pod, const VolumeTable& volumes) {
  PodClaims out;
  std::vector<const VolumeClaim*> all;
  for (const kube::PodVolume& volume : pod.spec.volumes) {
    if (volume.claim.empty() && !volume.ephemeral) continue;
    const std::string name = claim_name(pod, volume);
    const VolumeClaim* claim = volumes.claim(pod.meta.ns, name);
    out.wrong = wrong_with(claim, pod, volume, name);
    if (!out.wrong.empty()) return out;
    if (std::ranges::find(all, claim) == all.end()) all.push_back(claim);
  }
  for (const VolumeClaim* claim : all) {
    if (claim->fully_bound()) {
      out.bound.push_back(claim);
      continue;
    }
    const StorageClass* made = volumes.storage_class(claim->storage_class);
    if (made == nullptr || !made->waits_for_consumer || !claim->volume.empty()) {
      out.wrong = "pod has unbound immediate PersistentVolumeClaims";
      return out;
    }
    out.waiting.push_back(claim);
  }
  return out;
}

VolumeMatcher::VolumeMatcher(ClusterTables& cluster, PodClaims claims)
    : volumes_(cluster.volumes()), table_(cluster.table()), claims_(std::move(claims)) {
  std::ranges::sort(claims_.waiting, {}, [](const VolumeClaim* claim) {
    return std::pair(size_of(*claim), std::string_view(claim->name));
  });
  waiting_.reserve(claims_.waiting.size());
  for (const VolumeClaim* claim : claims_.waiting) prepare(*claim);
}

void VolumeMatcher::prepare(const VolumeClaim& claim) {
  Waiting& made = waiting_.emplace_back();
  made.claim = &claim;
  made.node = volumes_.selected_node(claim);
  if (made.node == nullptr) find_candidates(made);
  find_provisioner(made);
}

void VolumeMatcher::find_candidates(Waiting& out) const {
  const VolumeClaim& claim = *out.claim;
  const Quantity wanted = size_of(claim);
  for (const Volume* volume : volumes_.volumes_of_class(claim.storage_class)) {
    const PersistentVolume& object = volume->object;
    const ClaimRef* owner = volume->taken_by();
    if (owner != nullptr && !owner->is(claim)) continue;
    if (object.capacity < wanted || object.block != claim.block ||
        object.attributes_class != claim.attributes_class || object.deleted)
      continue;
    if (owner != nullptr)
      out.prebound.push_back(volume);
    else if (object.available && (!claim.selector || claim.selector->matches(object.labels)) &&
             has_modes(*volume, claim))
      out.candidates.push_back(volume);
  }
  std::ranges::sort(out.prebound, {}, [](const Volume* one) { return one->object.name; });
  std::ranges::sort(out.candidates, smaller);
  for (std::uint32_t at = 0; at < out.candidates.size(); ++at) {
    const Volume& volume = *out.candidates[at];
    if (!volume.pinned) {
      out.loose.push_back(at);
      continue;
    }
    const LabelValue value = table_.labels().find_value(volume.pin_value);
    if (value == 0) continue;  // no node has it
    out.pinned[pin_of(volume.pin_key, value)].push_back(at);
    if (std::ranges::find(out.pin_keys, volume.pin_key) == out.pin_keys.end())
      out.pin_keys.push_back(volume.pin_key);
  }
}

void VolumeMatcher::find_provisioner(Waiting& out) {
  const StorageClass* made = volumes_.storage_class(out.claim->storage_class);
  if (made == nullptr || made->provisioner.empty() || made->provisioner == kNoProvisioner) return;
  out.can_be_made = true;
  for (const StorageClass::TopologyTerm& term : made->topologies) {
    auto& known = out.topologies.emplace_back();
    for (const auto& [key, values] : term) {
      auto& wanted = known.emplace_back(table_.labels().key_id(key), std::vector<LabelValue>());
      for (const std::string& value : values)
        if (LabelValue found = table_.labels().find_value(value); found != 0)
          wanted.second.push_back(found);
    }
  }
  const CsiDriver* driver = volumes_.csi().driver(made->provisioner);
  out.checks_capacity = out.claim->request && driver != nullptr && driver->storage_capacity;
  if (!out.checks_capacity) return;
  const std::int64_t bytes = out.claim->request->value();
  for (const StorageCapacity& one : volumes_.csi().capacities_of_class(made->name))
    if (one.nodes && one.limit() && one.limit()->value() >= bytes) out.capacities.push_back(&one);
}

void VolumeMatcher::judge_bound(NodeIndex row, Judgement& out) const {
  for (const VolumeClaim* claim : claims_.bound) {
    const Volume* volume = volumes_.volume(claim->volume);
    out.bound_exist = volume != nullptr;
    if (!out.bound_exist) return;
    out.bound_match = volumes_.fits_on(*volume, row);
    if (!out.bound_match) return;
  }
}

VolumeMatcher::Judgement VolumeMatcher::judge(NodeIndex row, Choice& out) const {
  Judgement judged;
  judge_bound(row, judged);
  out.taken.clear();
  out.made.clear();
  for (const Waiting& one : waiting_)
    if (one.node != nullptr && *one.node != table_.name(row)) {
      judged.unbound_match = false;
      return judged;
    }
  // Volumes are chosen for all claims before any is made: the reasons depend on it.
  for (const Waiting& one : waiting_)
    if (one.node == nullptr)
      if (const Volume* found = find_volume(one, row, out)) out.taken.push_back({one.claim, found});
  const auto has_volume = [&](const Waiting& one) {
    return std::ranges::find(out.taken, one.claim, &Choice::Taken::claim) != out.taken.end();
  };
  for (const bool selected : {true, false})
    for (const Waiting& one : waiting_)
      if ((one.node != nullptr) == selected && !has_volume(one) &&
          !can_be_made(one, row, judged, out))
        return judged;
  return judged;
}

bool VolumeMatcher::can_be_made(const Waiting& one, NodeIndex row, Judgement& judged,
                                Choice& out) const {
  if (!one.can_be_made || !topology_matches(one, row)) {
    judged.unbound_match = false;
    return false;
  }
  const StorageCapacity* from = nullptr;
  if (one.checks_capacity) {
    from = find_capacity(one, row);
    judged.enough_storage = from != nullptr;
    if (from == nullptr) return false;
  }
  out.made.push_back({one.claim, from});
  return true;
}

const Volume* VolumeMatcher::find_volume(const Waiting& one, NodeIndex row,
                                         const Choice& chosen) const {
  const auto is_free = [&](const Volume* volume) {
    return std::ranges::find(chosen.taken, volume, &Choice::Taken::volume) == chosen.taken.end();
  };
  for (const Volume* volume : one.prebound)
    if (is_free(volume)) return volume->fits_on(table_, row) ? volume : nullptr;
  std::optional<std::uint32_t> best;
  const auto take_first = [&](const std::vector<std::uint32_t>& places) {
    for (const std::uint32_t at : places) {
      if (best && at > *best) return;
      if (!is_free(one.candidates[at]) || !one.candidates[at]->fits_on(table_, row)) continue;
      best = at;
      return;
    }
  };
  take_first(one.loose);
  for (const LabelKey key : one.pin_keys)
    if (const LabelValue value = table_.labels().value(row, key); value != 0)
      if (auto group = one.pinned.find(pin_of(key, value)); group != one.pinned.end())
        take_first(group->second);
  return best ? one.candidates[*best] : nullptr;
}

bool VolumeMatcher::topology_matches(const Waiting& one, NodeIndex row) const {
  if (one.topologies.empty()) return true;
  return std::ranges::any_of(one.topologies, [&](const auto& term) {
    return !term.empty() && std::ranges::all_of(term, [&](const auto& wanted) {
      const LabelValue value = table_.labels().value(row, wanted.first);
      return value != 0 && std::ranges::find(wanted.second, value) != wanted.second.end();
    });
  });
}

const StorageCapacity* VolumeMatcher::find_capacity(const Waiting& one, NodeIndex row) const {
  NodeLabels& labels = table_.labels();
  for (const StorageCapacity* capacity : one.capacities) {
    const bool reaches =
        capacity->nodes != kube::LabelSelector::nothing() &&
        std::ranges::all_of(
            capacity->nodes->requirements(), [&](const kube::LabelRequirement& wanted) {
              const LabelValue value = labels.value(row, labels.key_id(wanted.key));
              return wanted.matches(value == 0 ? std::nullopt : std::optional(labels.text(value)));
            });
    if (reaches) return capacity;
  }
  return nullptr;
}

VolumePlan plan_volumes(ClusterTables& cluster, const kube::Pod& pod, std::string_view node) {
  VolumePlan out;
  const auto row = cluster.table().find(node);
  if (!row) return out;
  PodClaims claims = claims_of(pod, cluster.volumes());
  if (!claims.wrong.empty() || claims.waiting.empty()) return out;
  const VolumeMatcher matcher(cluster, std::move(claims));
  VolumeMatcher::Choice choice;
  if (!matcher.judge(*row, choice).fits()) return out;
  for (const auto& [claim, volume] : choice.taken) {
    const ClaimRef* owner = volume->object.claim ? &*volume->object.claim : nullptr;
    out.statics.push_back({.volume = volume->object.name,
                           .version = volume->object.version,
                           .claim = {claim->ns, claim->name, claim->uid},
                           .claim_version = claim->version,
                           .named = owner != nullptr && owner->is(*claim),
                           .written = owner != nullptr && owner->uid == claim->uid});
  }
  for (const auto& [claim, from] : choice.made)
    out.provisions.push_back({.claim = {claim->ns, claim->name, claim->uid},
                              .version = claim->version,
                              .written = claim->selected_node.has_value()});
  return out;
}

}  // namespace plim::placement
