// Sets the initial state of some kinds.
#include "base/rfc3339.hpp"
#include "kube/paths.hpp"
#include "local/apiserver/api/mutators/mutators.hpp"

namespace plim::local::apiserver {

// The namespace controller removes the finalizer when the namespace is empty.
ApiResult<void> set_namespace_state(const Core& /*core*/, Admission& admission) {
  json::object& spec = kube::make_object(admission.object, "Namespace.spec");
  if (admission.before.is_null()) {
    spec["finalizers"] = json::array{"kubernetes"};
    kube::make_object(admission.object, "Namespace.status")["phase"] = "Active";
  } else if (const json::value* kept = kube::find(admission.before, "Namespace.spec.finalizers")) {
    spec["finalizers"] = *kept;
  }
  return {};
}

ApiResult<void> set_volume_phase(const Core& /*core*/, Admission& admission) {
  kube::make_object(admission.object, "PersistentVolume.status")["phase"] = "Pending";
  return {};
}

// No scheduler looks at a gated pod, so the server sets the reason why it waits.
ApiResult<void> hold_at_gates(const Core& core, Admission& admission) {
  const json::value* gates = kube::find(admission.object, "Pod.spec.schedulingGates");
  if (!gates || !gates->is_array() || gates->get_array().empty()) return {};
  const json::object condition{
      {"type", "PodScheduled"},
      {"status", "False"},
      {"lastProbeTime", nullptr},
      {"lastTransitionTime", format_rfc3339(core.clock.wall())},
      {"reason", "SchedulingGated"},
      {"message", "Scheduling is blocked due to non-empty scheduling gates"}};
  kube::make_object(admission.object, "Pod.status")["conditions"] = json::array{condition};
  return {};
}

// Drops all other fields of these references, which have no meaning.
ApiResult<void> keep_names_of_secrets(const Core& /*core*/, Admission& admission) {
  json::value* secrets = admission.object.as_object().if_contains("secrets");
  if (!secrets || !secrets->is_array()) return {};
  for (json::value& secret : secrets->get_array())
    secret = json::object{{"name", kube::text_at(secret, "ObjectReference.name")}};
  return {};
}

// No pod should be placed on the node before it reports that it is ready.
ApiResult<void> taint_new_node(const Core& /*core*/, Admission& admission) {
  constexpr std::string_view kNotReady = "node.kubernetes.io/not-ready";
  json::value& list = kube::make_object(admission.object, "Node.spec")["taints"];
  if (!list.is_array()) list.emplace_array();
  for (const json::value& taint : list.get_array())
    if (kube::text_at(taint, "Taint.key") == kNotReady &&
        kube::text_at(taint, "Taint.effect") == "NoSchedule")
      return {};
  list.get_array().push_back({{"key", kNotReady}, {"effect", "NoSchedule"}});
  return {};
}

}  // namespace plim::local::apiserver
