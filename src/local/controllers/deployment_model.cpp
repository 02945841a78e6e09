#include "local/controllers/deployment_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/text.hpp"

namespace plim::local::controllers {
namespace {

void drop_nulls(json::value& value) {
  if (value.is_array())
    for (json::value& item : value.get_array()) drop_nulls(item);
  if (!value.is_object()) return;
  json::object kept;
  for (auto& [key, item] : value.get_object()) {
    if (item.is_null()) continue;
    drop_nulls(item);
    kept[key] = std::move(item);
  }
  value = std::move(kept);
}

std::uint32_t fnv1a(std::string_view text) {
  std::uint32_t hash = 2166136261u;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

json::value value_or_empty(const json::value* value) {
  return value && value->is_object() ? *value : json::value(json::object());
}

std::int64_t share(const DeploymentModel& deployment, const SetModel& set) {
  if (deployment.replicas == 0) return -set.replicas;
  auto before = parse_int<std::int64_t>(set.annotation(kMaxReplicas));
  const std::int64_t base =
      before && *before > 0
          ? *before
          : kube::int_at(deployment.status, "DeploymentStatus.replicas").value_or(0);
  if (base <= 0) return 0;
  const double size = static_cast<double>(set.replicas) *
                      static_cast<double>(deployment.max_total()) / static_cast<double>(base);
  return static_cast<std::int64_t>(std::floor(size + 0.5)) - set.replicas;
}

}  // namespace

std::string template_identity(const json::value& pod_template) {
  json::value copy = pod_template;
  drop_nulls(copy);
  if (kube::find(copy, "PodTemplateSpec.metadata.labels", kPodTemplateHash))
    kube::make_object(copy, "PodTemplateSpec.metadata.labels").erase(kPodTemplateHash);
  sort_keys(copy);
  return to_json(copy);
}

std::string template_hash(const json::value& pod_template, std::int64_t collisions) {
  std::string text = template_identity(pod_template);
  if (collisions > 0) text += fmt::format("#{}", collisions);
  // Encodes digits as letters that spell no words, as in generated names.
  static constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string out;
  for (char digit : fmt::format("{}", fnv1a(text)))
    out += kLetters[static_cast<unsigned char>(digit) % kLetters.size()];
  return out;
}

DeploymentModel::DeploymentModel(const Object& deployment)
    : object(&deployment),
      replicas(kube::int_at(deployment.json, "Deployment.spec.replicas").value_or(1)),
      rolling(kube::text_at(deployment.json, "Deployment.spec.strategy.type") != "Recreate"),
      paused(kube::bool_at(deployment.json, "Deployment.spec.paused")),
      min_ready(kube::int_at(deployment.json, "Deployment.spec.minReadySeconds").value_or(0)),
      history_limit(kube::int_at(deployment.json, "Deployment.spec.revisionHistoryLimit")),
      identity(template_identity(
          value_or_empty(kube::find(deployment.json, "Deployment.spec.template")))),
      status(value_or_empty(kube::find(deployment.json, "Deployment.status"))) {
  auto deadline = kube::int_at(deployment.json, "Deployment.spec.progressDeadlineSeconds");
  if (deadline && *deadline != std::numeric_limits<std::int32_t>::max())
    progress_deadline = std::chrono::seconds(*deadline);
  if (!rolling) return;
  auto bound = [&](kube::AnyPath field, Round round) {
    const json::value* value = kube::find(deployment.json, field);
    const json::value quarter("25%");
    return int_or_percent(value ? value : &quarter, replicas, round).value_or(0);
  };
  max_surge = bound("Deployment.spec.strategy.rollingUpdate.maxSurge", Round::up);
  max_unavailable = bound("Deployment.spec.strategy.rollingUpdate.maxUnavailable", Round::down);
  if (max_surge == 0 && max_unavailable == 0) max_unavailable = 1;  // or it would never proceed
  max_unavailable = std::min(max_unavailable, replicas);
}

SetModel::SetModel(ObjectPointer set)
    : object(std::move(set)),
      json(object->json),
      replicas(kube::int_at(json, "ReplicaSet.spec.replicas").value_or(1)),
      actual(kube::int_at(json, "ReplicaSet.status.replicas").value_or(0)),
      ready(kube::int_at(json, "ReplicaSet.status.readyReplicas").value_or(0)),
      available(kube::int_at(json, "ReplicaSet.status.availableReplicas").value_or(0)),
      terminating(kube::int_at(json, "ReplicaSet.status.terminatingReplicas")),
      identity(template_identity(value_or_empty(kube::find(json, "ReplicaSet.spec.template")))),
      created(object->meta.created.value_or(WallTime())) {}

void SetModel::annotate(std::string_view key, std::string_view value) {
  if (annotation(key) == value && kube::find(json, "ReplicaSet.metadata.annotations", key)) return;
  kube::make_object(json, "ReplicaSet.metadata.annotations")[key] = value;
  changed = true;
}

std::string_view SetModel::annotation(std::string_view key) const {
  return kube::annotation_of(json, key);
}

std::int64_t SetModel::revision() const {
  auto number = parse_int<std::int64_t>(annotation(kRevision));
  return number ? *number : 0;
}

DeploymentSets::DeploymentSets(const DeploymentModel& deployment,
                               const std::vector<ObjectPointer>& sets) {
  for (const ObjectPointer& set : sets) old.emplace_back(set);
  std::sort(old.begin(), old.end(), [](const SetModel& a, const SetModel& b) {
    return a.created != b.created ? a.created < b.created : a.name() < b.name();
  });
  auto found = std::find_if(old.begin(), old.end(), [&](const SetModel& set) {
    return set.identity == deployment.identity;
  });
  if (found == old.end()) return;
  current.emplace(std::move(*found));
  old.erase(found);
}

std::vector<SetModel*> DeploymentSets::all() {
  std::vector<SetModel*> out;
  for (SetModel& set : old) out.push_back(&set);
  if (current) out.push_back(&*current);
  return out;
}

std::vector<SetModel*> DeploymentSets::active() {
  std::vector<SetModel*> out = all();
  std::erase_if(out, [](const SetModel* set) { return set->replicas <= 0; });
  return out;
}

std::int64_t DeploymentSets::total() const {
  std::int64_t sum = current ? current->replicas : 0;
  for (const SetModel& set : old) sum += set.replicas;
  return sum;
}

std::int64_t DeploymentSets::total_available() const {
  std::int64_t sum = current ? current->available : 0;
  for (const SetModel& set : old) sum += set.available;
  return sum;
}

std::int64_t next_current_size(const DeploymentModel& deployment, const DeploymentSets& sets,
                               std::int64_t present) {
  if (!deployment.rolling) return deployment.replicas;
  const std::int64_t room = deployment.max_total() - sets.total();
  if (room <= 0) return present;
  return present + std::min(room, deployment.replicas - present);
}

std::vector<SetSize> share_proportionally(const DeploymentModel& deployment, DeploymentSets& sets) {
  std::vector<SetModel*> active = sets.active();
  std::int64_t total = 0;
  for (const SetModel* set : active) total += set->replicas;
  const std::int64_t to_add = (deployment.replicas > 0 ? deployment.max_total() : 0) - total;
  // Of sets of equal size the newest grows first and the oldest shrinks first.
  std::sort(active.begin(), active.end(), [&](const SetModel* a, const SetModel* b) {
    if (a->replicas != b->replicas) return a->replicas > b->replicas;
    return to_add > 0 ? a->created > b->created : a->created < b->created;
  });
  std::vector<SetSize> out;
  std::int64_t added = 0;
  for (SetModel* set : active) {
    std::int64_t part = 0;
    if (to_add > 0) part = std::min(share(deployment, *set), to_add - added);
    if (to_add < 0) part = std::max(share(deployment, *set), to_add - added);
    if (to_add == added) part = 0;
    added += part;
    out.push_back({set, set->replicas + part});
  }
  // The largest set gets the rest that rounding left.
  if (!out.empty() && to_add != 0) out.front().size += to_add - added;
  for (SetSize& one : out) one.size = std::max<std::int64_t>(0, one.size);
  return out;
}

}  // namespace plim::local::controllers
