// Merges matchLabelKeys and mismatchLabelKeys of a new pod into the selectors of the same terms,
// so that schedulers read only selectors.
#include <string_view>
#include <utility>

#include "kube/paths.hpp"
#include "local/apiserver/api/mutators/mutators.hpp"

namespace plim::local::apiserver {
namespace {

// Labels that the pod lacks are skipped.
void merge_keys(const json::object& labels, const json::value* keys, std::string_view how,
                json::object& selector) {
  if (!keys || !keys->is_array()) return;
  for (const json::value& key : keys->get_array()) {
    const json::value* value = key.is_string() ? labels.if_contains(key.get_string()) : nullptr;
    if (!value) continue;
    json::value& list = selector["matchExpressions"];
    if (!list.is_array()) list.emplace_array();
    list.get_array().push_back(
        json::object{{"key", key}, {"operator", how}, {"values", json::array{*value}}});
  }
}

// A term without a selector matches no pod, so nothing is merged.
void merge_into(const json::object& labels, json::value* term) {
  if (!term || !term->is_object()) return;
  json::object& fields = term->get_object();
  json::value* selector = fields.if_contains("labelSelector");
  if (!selector || !selector->is_object()) return;
  merge_keys(labels, fields.if_contains("matchLabelKeys"), "In", selector->get_object());
  merge_keys(labels, fields.if_contains("mismatchLabelKeys"), "NotIn", selector->get_object());
}

json::value* member(json::value* value, std::string_view field) {
  return value && value->is_object() ? value->get_object().if_contains(field) : nullptr;
}

void merge_each(const json::object& labels, json::value* list, std::string_view inside = {}) {
  if (!list || !list->is_array()) return;
  for (json::value& one : list->get_array())
    merge_into(labels, inside.empty() ? &one : member(&one, inside));
}

}  // namespace

ApiResult<void> merge_label_keys(const Core& /*core*/, Admission& admission) {
  const json::value* found = kube::find(admission.object, "Pod.metadata.labels");
  if (!found || !found->is_object()) return {};
  const json::object labels = found->get_object();
  json::value* spec = member(&admission.object, "spec");
  for (std::string_view kind : {"podAffinity", "podAntiAffinity"}) {
    json::value* affinity = member(member(spec, "affinity"), kind);
    merge_each(labels, member(affinity, "preferredDuringSchedulingIgnoredDuringExecution"),
               "podAffinityTerm");
    merge_each(labels, member(affinity, "requiredDuringSchedulingIgnoredDuringExecution"));
  }
  merge_each(labels, member(spec, "topologySpreadConstraints"));
  return {};
}

}  // namespace plim::local::apiserver
