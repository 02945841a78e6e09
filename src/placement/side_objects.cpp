#include "placement/side_objects.hpp"

#include "kube/object.hpp"
#include "kube/paths.hpp"

namespace plim::placement {

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
