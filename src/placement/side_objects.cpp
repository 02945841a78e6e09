#include "placement/side_objects.hpp"

#include <algorithm>

#include "kube/object.hpp"
#include "kube/paths.hpp"

namespace plim::placement {

VolumeClaim read_claim(const kube::ObjectMeta& meta, const json::value& object) {
  VolumeClaim out{
      .ns = std::string(meta.ns),
      .name = meta.name,
      .volume = std::string(kube::text_at(object, "PersistentVolumeClaim.spec.volumeName")),
      .storage_class =
          std::string(kube::text_at(object, "PersistentVolumeClaim.spec.storageClassName"))};
  out.bound = !kube::annotation_of(object, "pv.kubernetes.io/bind-completed").empty();
  out.lost = kube::text_at(object, "PersistentVolumeClaim.status.phase") == "Lost";
  out.deleted = meta.deleted.has_value();
  out.once_pod = std::ranges::any_of(
      kube::list_at(object, "PersistentVolumeClaim.spec.accessModes"), [](const json::value& mode) {
        return mode.is_string() && mode.get_string() == "ReadWriteOncePod";
      });
  return out;
}

PersistentVolume read_volume(const kube::ObjectMeta& meta, const json::value& object) {
  const json::value* required = kube::find(object, "PersistentVolume.spec.nodeAffinity.required");
  return {.name = meta.name,
          .labels = meta.labels,
          .node_affinity = required != nullptr ? *required : json::value()};
}

StorageClass read_class(const kube::ObjectMeta& meta, const json::value& object) {
  return {.name = meta.name,
          .waits_for_consumer =
              kube::text_at(object, "StorageClass.volumeBindingMode") == "WaitForFirstConsumer"};
}

DisruptionBudget read_budget(const kube::ObjectMeta& meta, const json::value& object) {
  DisruptionBudget out{
      .ns = std::string(meta.ns),
      .name = meta.name,
      .selector = kube::LabelSelector::nothing(),
      .allowed = kube::int_at(object, "PodDisruptionBudget.status.disruptionsAllowed").value_or(0),
      .disrupted = {}};
  if (const json::value* selector = kube::find(object, "PodDisruptionBudget.spec.selector"))
    if (auto made = kube::LabelSelector::from_json(*selector)) out.selector = std::move(*made);
  if (const json::value* pods = kube::find(object, "PodDisruptionBudget.status.disruptedPods");
      pods != nullptr && pods->is_object())
    for (const auto& [name, when] : pods->get_object()) out.disrupted.emplace_back(name);
  return out;
}

}  // namespace plim::placement
