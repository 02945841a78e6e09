// Sets the priority of a pod from its PriorityClass.
#include <fmt/format.h>

#include "kube/object.hpp"
#include "kube/paths.hpp"
#include "local/apiserver/api/mutators/mutators.hpp"
#include "local/apiserver/api/object_bytes.hpp"

namespace plim::local::apiserver {
namespace {

// Null if no class is the global default.
json::value global_default(const Core& core, const Kind& classes) {
  json::value best;
  for (const store::EntryPtr& entry : core.store.view().list(classes.prefix).entries) {
    if (entry->value->find("\"globalDefault\":true") == std::string::npos) continue;
    json::value one = decode_object(*entry->value);
    if (best.is_null() ||
        kube::int_at(one, "PriorityClass.value") < kube::int_at(best, "PriorityClass.value"))
      best = std::move(one);
  }
  return best;
}

}  // namespace

ApiResult<void> set_priority(const Core& core, Admission& admission) {
  json::object& spec = kube::make_object(admission.object, "Pod.spec");
  const KindPtr classes = core.kinds.find("scheduling.k8s.io", "v1", "priorityclasses");
  const std::string name(kube::text_at(admission.object, "Pod.spec.priorityClassName"));
  json::value found;
  if (name.empty()) {
    found = global_default(core, *classes);
    if (!found.is_null()) spec["priorityClassName"] = kube::name_of(found);
  } else {
    const store::EntryPtr entry = core.store.get(classes->key("", name));
    if (!entry)
      return forbidden(*admission.kind, kube::name_of(admission.object),
                       fmt::format("no PriorityClass with name {} was found", name));
    found = decode_object(*entry->value);
  }
  const std::int64_t priority = kube::int_at(found, "PriorityClass.value").value_or(0);
  const auto given = kube::int_at(admission.object, "Pod.spec.priority");
  if (given && *given != priority)
    return forbidden(
        *admission.kind, kube::name_of(admission.object),
        fmt::format("the integer value of priority ({}) must not be provided in pod spec; priority "
                    "admission controller computed {} from the given PriorityClass name",
                    *given, priority));
  spec["priority"] = priority;
  const std::string_view policy = kube::text_at(found, "PriorityClass.preemptionPolicy");
  if (!spec.contains("preemptionPolicy"))
    spec["preemptionPolicy"] = policy.empty() ? "PreemptLowerPriority" : policy;
  return {};
}

}  // namespace plim::local::apiserver
