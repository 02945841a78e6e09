// Bindings and evictions of pods.
#include <fmt/format.h>

#include "base/rfc3339.hpp"
#include "kube/object.hpp"
#include "kube/paths.hpp"
#include "kube/selector.hpp"
#include "local/apiserver/api/body.hpp"
#include "local/apiserver/api/object_bytes.hpp"
#include "local/apiserver/api/reads.hpp"
#include "local/apiserver/api/response_output.hpp"
#include "local/apiserver/api/subresources.hpp"

namespace plim::local::apiserver {
namespace {

json::value success(int code) {
  return {{"kind", "Status"},
          {"apiVersion", "v1"},
          {"metadata", json::object()},
          {"status", "Success"},
          {"code", code}};
}

ApiError binding_conflict(std::string_view pod, std::string_view why) {
  return {
      .code = 409,
      .reason = "Conflict",
      .message = fmt::format("Operation cannot be fulfilled on pods/binding \"{}\": {}", pod, why),
      .details = ErrorDetails{.name = std::string(pod), .kind = "pods/binding"}};
}

void set_condition(json::value& pod, json::object condition) {
  const json::value* generation = kube::find(pod, "Pod.metadata.generation");
  if (generation) condition["observedGeneration"] = *generation;
  const json::value type = condition["type"];
  json::value& conditions = kube::make_object(pod, "Pod.status")["conditions"];
  if (!conditions.is_array()) conditions.emplace_array();
  for (json::value& one : conditions.get_array()) {
    if (kube::text_at(one, "PodCondition.type") != std::string_view(type.get_string())) continue;
    one = std::move(condition);
    return;
  }
  conditions.get_array().push_back(std::move(condition));
}

void set_scheduled(json::value& pod, WallTime now) {
  set_condition(pod, {{"type", "PodScheduled"},
                      {"status", "True"},
                      {"lastProbeTime", nullptr},
                      {"lastTransitionTime", format_rfc3339(now)}});
}

ApiResult<json::value> bound(const json::value& now, const json::value& binding, WallTime time) {
  const std::string_view name = kube::name_of(now);
  const std::string_view uid = kube::uid_of(binding);
  if (!uid.empty() && uid != kube::uid_of(now))
    return binding_conflict(name, "the UID in the binding is not the pod's");
  if (kube::is_being_deleted(now))
    return binding_conflict(
        name, fmt::format("pod {} is being deleted, cannot be assigned to a host", name));
  if (const std::string_view node = kube::text_at(now, "Pod.spec.nodeName"); !node.empty())
    return binding_conflict(name,
                            fmt::format("pod {} is already assigned to node \"{}\"", name, node));
  const json::value* gates = kube::find(now, "Pod.spec.schedulingGates");
  if (gates && gates->is_array() && !gates->get_array().empty())
    return binding_conflict(name, fmt::format("pod {} has non-empty .spec.schedulingGates", name));
  json::value out = now;
  kube::make_object(out, "Pod.spec")["nodeName"] = kube::text_at(binding, "Binding.target.name");
  constexpr kube::MapPath kAdded[] = {"Object.metadata.annotations", "Object.metadata.labels"};
  for (kube::MapPath path : kAdded) {
    const json::value* added = kube::find(binding, path);
    if (!added || !added->is_object() || added->get_object().empty()) continue;
    json::object& into = kube::make_object(out, path);
    for (const auto& [key, value] : added->get_object()) into[key] = value;
  }
  set_scheduled(out, time);
  return out;
}

bool needs_no_budget(const json::value& pod) {
  const std::string_view phase = kube::text_at(pod, "Pod.status.phase");
  return kube::is_being_deleted(pod) || phase == "Succeeded" || phase == "Failed" ||
         phase == "Pending";
}

bool covers(const json::value& budget, const json::value& pod) {
  const json::value* selector = kube::find(budget, "PodDisruptionBudget.spec.selector");
  if (!selector) return false;
  const auto parsed = kube::LabelSelector::from_json(*selector);
  std::vector<std::pair<std::string, std::string>> labels;
  if (const json::value* found = kube::find(pod, "Pod.metadata.labels");
      found && found->is_object())
    for (const auto& [key, value] : found->get_object())
      if (value.is_string()) labels.emplace_back(key, value.get_string());
  return parsed && parsed->matches(labels);
}

ApiResult<json::value> spent(const json::value& budget, std::string_view pod, WallTime now) {
  const std::int64_t allowed =
      kube::int_at(budget, "PodDisruptionBudget.status.disruptionsAllowed").value_or(0);
  const bool is_current =
      kube::int_at(budget, "PodDisruptionBudget.status.observedGeneration").value_or(0) >=
      kube::int_at(budget, "PodDisruptionBudget.metadata.generation").value_or(0);
  if (allowed <= 0 || !is_current)
    return ApiError{
        .code = 429,
        .reason = "TooManyRequests",
        .message = "Cannot evict pod as it would violate the pod's disruption budget.",
        .details = ErrorDetails{
            .causes = {
                {"DisruptionBudget",
                 fmt::format(
                     "The disruption budget {} needs {} healthy pods and has {} "
                     "currently",
                     kube::name_of(budget),
                     kube::int_at(budget, "PodDisruptionBudget.status.desiredHealthy").value_or(0),
                     kube::int_at(budget, "PodDisruptionBudget.status.currentHealthy").value_or(0)),
                 ""}}}};
  json::value out = budget;
  kube::make_object(out, "PodDisruptionBudget.status")["disruptionsAllowed"] = allowed - 1;
  kube::make_object(out, "PodDisruptionBudget.status.disruptedPods")[pod] = format_rfc3339(now);
  return out;
}

}  // namespace

AdmissionPtr Subresources::admission_of(const CallPtr& call, std::string subresource,
                                        Admission::ObjectKind kind) const {
  auto out = std::make_shared<Admission>();
  out->call = call;
  out->kind = core_.kinds.find("", "v1", "pods");
  out->ns = call->target.ns;
  out->name = call->target.name;
  out->subresource = std::move(subresource);
  out->object_kind = std::move(kind);
  return out;
}

Task<HandlerResult> Subresources::bind(CallPtr call) {
  PLIM_CO_TRY(json::value binding, decode_body_as(*call, "", "v1", "Binding"));
  UpdateRequest request{.call = call,
                        .kind = core_.kinds.find("", "v1", "pods"),
                        .ns = call->target.ns,
                        .name = call->target.name,
                        .subresource = "binding",
                        .scope = Scope::all};
  PLIM_CO_TRY(request.dry_run, parse_dry_run(*call, "CreateOptions"));
  if (request.name.empty()) request.name = kube::name_of(binding);
  const std::string_view named = kube::name_of(binding);
  if (!named.empty() && named != request.name)
    co_return bad_request("name in URL does not match name in Binding object");
  if (kube::text_at(binding, "Binding.target.name").empty()) {
    std::vector<Cause> causes{{"FieldValueRequired", "Required value", "target.name"}};
    co_return invalid(*core_.kinds.find("", "v1", "bindings"), request.name, std::move(causes));
  }
  auto admission = admission_of(call, "binding", {.group = "", .version = "v1", .kind = "Binding"});
  admission->name = request.name;
  admission->dry_run = request.dry_run;
  admission->object = binding;
  kube::make_object(admission->object, "Object.metadata")["namespace"] = request.ns;
  PLIM_CO_CHECK(co_await writer_.admit(admission));
  request.shown = [](const Admission&) { return AdmissionPtr(); };
  const WallTime now = core_.clock.wall();
  request.edit = [binding = std::move(binding), now](const json::value& pod) {
    return bound(pod, binding, now);
  };
  PLIM_CO_CHECK(co_await writer_.update(std::move(request)));
  co_return text_reply(*call, 201, to_json(success(201)));
}

Task<ApiResult<void>> Subresources::spend_budget(CallPtr call, std::string ns, std::string name) {
  const KindPtr pods = core_.kinds.find("", "v1", "pods");
  PLIM_CO_TRY(store::EntryPtr entry, find_entry(core_, *pods, ns, name));
  const json::value pod = decode_object(*entry->value);
  if (needs_no_budget(pod)) co_return ApiResult<void>();
  const KindPtr budgets = core_.kinds.find("policy", "v1", "poddisruptionbudgets");
  std::vector<std::string> found;
  for (const store::EntryPtr& one : core_.store.view().list(budgets->folder(ns)).entries) {
    const json::value budget = decode_object(*one->value);
    if (covers(budget, pod)) found.emplace_back(kube::name_of(budget));
  }
  if (found.empty()) co_return ApiResult<void>();
  if (found.size() > 1)
    co_return fail(Code::internal,
                   "This pod has more than one PodDisruptionBudget, which the eviction subresource "
                   "does not support.");
  UpdateRequest request{.call = call,
                        .kind = budgets,
                        .ns = ns,
                        .name = found.front(),
                        .subresource = "status",
                        .scope = Scope::all};
  const WallTime now = core_.clock.wall();
  request.edit = [name, now](const json::value& budget) { return spent(budget, name, now); };
  PLIM_CO_CHECK(co_await writer_.update(std::move(request)));
  co_return ApiResult<void>();
}

Task<HandlerResult> Subresources::evict(CallPtr call) {
  PLIM_CO_TRY(json::value eviction, decode_body_as(*call, "policy", "v1", "Eviction", "v1beta1"));
  const std::string_view named = kube::name_of(eviction);
  if (!named.empty() && named != call->target.name)
    co_return bad_request("name in URL does not match name in Eviction object");
  const json::value* sent = kube::find(eviction, "Eviction.deleteOptions");
  const json::value options = sent ? *sent : json::value(json::object());
  DeleteRequest request{.call = call,
                        .kind = core_.kinds.find("", "v1", "pods"),
                        .ns = call->target.ns,
                        .name = call->target.name};
  PLIM_CO_TRY(request.options, parse_delete_options(*call, options));
  PLIM_CO_TRY(bool dry_run, parse_dry_run(*call, "CreateOptions"));
  request.options.dry_run = request.options.dry_run || dry_run;
  auto admission =
      admission_of(call, "eviction", {.group = "policy", .version = "v1", .kind = "Eviction"});
  admission->dry_run = request.options.dry_run;
  admission->object = std::move(eviction);
  kube::make_object(admission->object, "Object.metadata")["namespace"] = request.ns;
  PLIM_CO_CHECK(co_await writer_.admit(admission));
  if (!request.options.dry_run)
    PLIM_CO_CHECK(co_await spend_budget(call, request.ns, request.name));
  if (!request.options.dry_run) {
    // Skip it if the pod is being deleted; the deletion finds out whether the pod exists.
    const WallTime now = core_.clock.wall();
    UpdateRequest mark{.call = call,
                       .kind = request.kind,
                       .ns = request.ns,
                       .name = request.name,
                       .subresource = "status",
                       .scope = Scope::all};
    mark.shown = [](const Admission&) { return AdmissionPtr(); };
    mark.edit = [now](const json::value& pod) -> ApiResult<json::value> {
      if (kube::is_being_deleted(pod)) return pod;
      json::value out = pod;
      set_condition(out, {{"type", "DisruptionTarget"},
                          {"status", "True"},
                          {"lastProbeTime", nullptr},
                          {"lastTransitionTime", format_rfc3339(now)},
                          {"reason", "EvictionByEvictionAPI"},
                          {"message", "Eviction API: evicting"}});
      return out;
    };
    PLIM_CO_CHECK(co_await writer_.update(std::move(mark)));
  }
  PLIM_CO_CHECK(co_await deleter_.remove(std::move(request)));
  co_return text_reply(*call, 201, to_json(success(201)));
}

}  // namespace plim::local::apiserver
