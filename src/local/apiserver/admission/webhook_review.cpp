#include "local/apiserver/admission/webhook_review.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/base64.hpp"
#include "base/text.hpp"
#include "kube/paths.hpp"
#include "local/apiserver/admission/webhook_match.hpp"

namespace plim::local::apiserver {
namespace {

Admission::ObjectKind kind_of(const Admission& admission) {
  if (admission.object_kind) return *admission.object_kind;
  const Kind& kind = *admission.kind;
  return {.group = kind.group, .version = kind.version, .kind = kind.kind};
}

json::value full_object(const Admission::ObjectKind& kind, const json::value& object) {
  if (!object.is_object()) return nullptr;
  json::value out = object;
  out.get_object()["kind"] = kind.kind;
  out.get_object()["apiVersion"] =
      kind.group.empty() ? kind.version : fmt::format("{}/{}", kind.group, kind.version);
  return out;
}

json::object user_info(const User& user) {
  json::object out{{"username", user.name}};
  if (!user.uid.empty()) out["uid"] = user.uid;
  if (!user.groups.empty()) out["groups"] = json::value_from(user.groups);
  return out;
}

json::object options(const Admission& admission) {
  constexpr std::pair<Admission::Operation, std::string_view> kKinds[] = {
      {Admission::Operation::create, "CreateOptions"},
      {Admission::Operation::update, "UpdateOptions"},
      {Admission::Operation::remove, "DeleteOptions"},
  };
  json::object out{{"apiVersion", "meta.k8s.io/v1"}};
  for (const auto& [operation, kind] : kKinds)
    if (operation == admission.operation) out["kind"] = kind;
  if (admission.call) {
    for (const char* name : {"fieldManager", "fieldValidation"})
      if (admission.call->query.has(name)) out[name] = admission.call->query.text(name);
  }
  for (const auto& [key, value] : admission.delete_options) out[key] = value;
  if (admission.dry_run) out["dryRun"] = json::array{"All"};
  return out;
}

Error bad_answer(std::string message) {
  return fail(Code::internal, "received invalid webhook response: " + std::move(message));
}

Result<void> check_patch(Phase phase, std::string_view patch, std::string_view type) {
  if (phase == Phase::validating) {
    if (!patch.empty()) return bad_answer("validating webhook may not return response.patch");
    if (!type.empty()) return bad_answer("validating webhook may not return response.patchType");
    return {};
  }
  if (!patch.empty() && type.empty())
    return bad_answer("webhook returned response.patch but not response.patchType");
  if (patch.empty() && !type.empty())
    return bad_answer("webhook returned response.patchType but not response.patch");
  if (!patch.empty() && type != "JSONPatch")
    return fail(Code::internal, fmt::format("unsupported patch type {}", quote(type)));
  return {};
}

// The client gets the other fields of the denial, too.
std::optional<ErrorDetails> details_of(const json::value& status) {
  const json::value* said = kube::find(status, "Status.details");
  if (!said || !said->is_object()) return std::nullopt;
  ErrorDetails out{.name = std::string(kube::text_at(*said, "StatusDetails.name")),
                   .group = std::string(kube::text_at(*said, "StatusDetails.group")),
                   .kind = std::string(kube::text_at(*said, "StatusDetails.kind")),
                   .uid = std::string(kube::text_at(*said, "StatusDetails.uid"))};
  out.retry_after =
      static_cast<int>(kube::int_at(*said, "StatusDetails.retryAfterSeconds").value_or(0));
  for (const json::value& cause : kube::list_at(*said, "StatusDetails.causes"))
    out.causes.push_back({.reason = std::string(kube::text_at(cause, "StatusCause.reason")),
                          .message = std::string(kube::text_at(cause, "StatusCause.message")),
                          .field = std::string(kube::text_at(cause, "StatusCause.field"))});
  return out;
}

}  // namespace

json::object review_request(const Admission& admission) {
  const Kind& kind = *admission.kind;
  const Admission::ObjectKind what = kind_of(admission);
  const json::value gvk =
      json::object{{"group", what.group}, {"version", what.version}, {"kind", what.kind}};
  const json::value gvr =
      json::object{{"group", kind.group}, {"version", kind.version}, {"resource", kind.plural}};
  json::object out{
      {"kind", gvk}, {"resource", gvr}, {"requestKind", gvk}, {"requestResource", gvr}};
  if (!admission.subresource.empty()) {
    out["subResource"] = admission.subresource;
    out["requestSubResource"] = admission.subresource;
  }
  if (!admission.name.empty()) out["name"] = admission.name;
  // The namespace of a Namespace object is itself.
  const bool is_namespace = kind.group.empty() && kind.plural == "namespaces";
  const std::string& ns = is_namespace ? admission.name : admission.ns;
  if (!ns.empty()) out["namespace"] = ns;
  out["operation"] = operation_name(admission.operation);
  out["userInfo"] = user_info(admission.call ? admission.call->user : User());
  out["object"] = full_object(what, admission.object);
  out["oldObject"] = full_object(what, admission.before);
  out["dryRun"] = admission.dry_run;
  out["options"] = options(admission);
  return out;
}

Result<ReviewAnswer> read_answer(std::string_view body, std::string_view uid, Phase phase) {
  auto parsed = parse_json(body);
  if (!parsed) return bad_answer(parsed.error().message);
  const std::string_view version = kube::text_at(*parsed, "AdmissionReview.apiVersion");
  const std::string_view kind = kube::text_at(*parsed, "AdmissionReview.kind");
  if (kind != "AdmissionReview" || version != "admission.k8s.io/v1")
    return bad_answer(
        fmt::format("expected webhook response of admission.k8s.io/v1, "
                    "Kind=AdmissionReview, got {}, Kind={}",
                    version.empty() ? "/" : version, kind));
  const json::value* response = kube::find(*parsed, "AdmissionReview.response");
  if (!response || !response->is_object()) return bad_answer("webhook response was absent");
  const std::string_view answered = kube::text_at(*response, "AdmissionResponse.uid");
  if (answered != uid)
    return bad_answer(fmt::format("expected response.uid={}, got {}", quote(uid), quote(answered)));
  const std::string_view patch = kube::text_at(*response, "AdmissionResponse.patch");
  const std::string_view type = kube::text_at(*response, "AdmissionResponse.patchType");
  PLIM_CHECK(check_patch(phase, patch, type));
  ReviewAnswer out;
  out.allowed = kube::bool_at(*response, "AdmissionResponse.allowed");
  if (const json::value* status = kube::find(*response, "AdmissionResponse.status"))
    out.status = *status;
  out.warnings = kube::texts_at(*response, "AdmissionResponse.warnings");
  if (patch.empty()) return out;
  const auto text = base64_decode(patch);
  if (!text) return bad_answer("patch: " + text.error().message);
  out.patch = std::move(*text);
  return out;
}

ApiError denied(std::string_view webhook, const json::value& status) {
  const std::string_view reason = kube::text_at(status, "Status.reason");
  std::string_view why = kube::text_at(status, "Status.message");
  if (why.empty()) why = reason;
  const auto code =
      std::clamp<std::int64_t>(kube::int_at(status, "Status.code").value_or(400), 400, 599);
  const std::string explained = why.empty() ? " without explanation" : fmt::format(": {}", why);
  return {.code = static_cast<int>(code),
          .reason = std::string(reason),
          .message =
              fmt::format("admission webhook {} denied the request{}", quote(webhook), explained),
          .details = details_of(status)};
}

ApiError call_failed(std::string_view webhook, std::string_view why) {
  return cannot_be_followed(fmt::format("failed calling webhook {}: {}", quote(webhook), why));
}

ApiError cannot_be_followed(std::string message) {
  ErrorDetails details;
  details.causes.push_back({.reason = "", .message = message, .field = ""});
  return {.code = 500,
          .reason = "InternalError",
          .message = "Internal error occurred: " + message,
          .details = std::move(details)};
}

}  // namespace plim::local::apiserver
