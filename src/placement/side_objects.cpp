#include "placement/side_objects.hpp"

#include <algorithm>

#include "kube/object.hpp"

namespace plim::placement {

VolumeClaim read_claim(const kube::ObjectMeta& meta, const json::value& object) {
  VolumeClaim out{.ns = std::string(meta.ns),
                  .name = meta.name,
                  .volume = std::string(text_at(object, {"spec", "volumeName"})),
                  .storage_class = std::string(text_at(object, {"spec", "storageClassName"}))};
  out.bound = !kube::annotation_of(object, "pv.kubernetes.io/bind-completed").empty();
  out.lost = text_at(object, {"status", "phase"}) == "Lost";
  out.deleted = meta.deleted.has_value();
  if (const json::value* modes = find(object, {"spec", "accessModes"});
      modes != nullptr && modes->is_array())
    out.once_pod = std::ranges::any_of(modes->get_array(), [](const json::value& mode) {
      return mode.is_string() && mode.get_string() == "ReadWriteOncePod";
    });
  return out;
}

PersistentVolume read_volume(const kube::ObjectMeta& meta, const json::value& object) {
  const json::value* required = find(object, {"spec", "nodeAffinity", "required"});
  return {.name = meta.name,
          .labels = meta.labels,
          .node_affinity = required != nullptr ? *required : json::value()};
}

StorageClass read_class(const kube::ObjectMeta& meta, const json::value& object) {
  return {.name = meta.name,
          .waits_for_consumer = text_at(object, {"volumeBindingMode"}) == "WaitForFirstConsumer"};
}

DisruptionBudget read_budget(const kube::ObjectMeta& meta, const json::value& object) {
  DisruptionBudget out{.ns = std::string(meta.ns),
                       .name = meta.name,
                       .selector = kube::LabelSelector::nothing(),
                       .allowed = int_at(object, {"status", "disruptionsAllowed"}).value_or(0),
                       .disrupted = {}};
  if (const json::value* selector = find(object, {"spec", "selector"}))
    if (auto made = kube::LabelSelector::from_json(*selector)) out.selector = std::move(*made);
  if (const json::value* pods = find(object, {"status", "disruptedPods"});
      pods != nullptr && pods->is_object())
    for (const auto& [name, when] : pods->get_object()) out.disrupted.emplace_back(name);
  return out;
}

}  // namespace plim::placement
