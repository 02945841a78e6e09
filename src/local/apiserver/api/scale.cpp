// The subresources scale, finalize and token.
#include <algorithm>

#include <fmt/format.h>

#include "base/rfc3339.hpp"
#include "base/text.hpp"
#include "kube/object.hpp"
#include "kube/paths.hpp"
#include "kube/selector.hpp"
#include "local/apiserver/api/body.hpp"
#include "local/apiserver/api/kind_rules.hpp"
#include "local/apiserver/api/object_bytes.hpp"
#include "local/apiserver/api/reads.hpp"
#include "local/apiserver/api/response_output.hpp"
#include "local/apiserver/api/subresources.hpp"

namespace plim::local::apiserver {
namespace {

constexpr std::int64_t kShortestToken = 600;
constexpr std::int64_t kUsualToken = 3600;

// Accepts a map of labels, or the selector object of newer kinds.
std::string selector_text(const json::value& object) {
  const json::value* selector = kube::find(object, "Deployment.spec.selector");
  if (!selector || !selector->is_object()) return {};
  const bool is_object = selector->get_object().contains("matchLabels") ||
                         selector->get_object().contains("matchExpressions");
  const json::value wrapped = is_object ? *selector : json::value{{"matchLabels", *selector}};
  const auto parsed = kube::LabelSelector::from_json(wrapped);
  return parsed ? parsed->to_string() : std::string();
}

const ScalePaths& paths_of(const Kind& kind) {
  static const ScalePaths usual;
  return kind.rules ? kind.rules->scale_paths() : usual;
}

// ".spec.replicas" -> spec, replicas
std::vector<std::string_view> steps(std::string_view path) {
  std::vector<std::string_view> out;
  for (const std::string_view step : split(path, '.'))
    if (!step.empty()) out.push_back(step);
  return out;
}

const json::value* at(const json::value& object, std::string_view path) {
  const json::value* out = &object;
  for (const std::string_view step : steps(path)) {
    out = out->is_object() ? out->get_object().if_contains(step) : nullptr;
    if (!out) return nullptr;
  }
  return out;
}

std::optional<std::int64_t> number_at(const json::value& object, std::string_view path) {
  const json::value* found = at(object, path);
  return found && found->is_int64() ? std::optional(found->get_int64()) : std::nullopt;
}

json::value scale_of(const Kind& kind, const json::value& object) {
  const ScalePaths& paths = paths_of(kind);
  json::object metadata;
  constexpr kube::AnyPath kShown[] = {"Object.metadata.name", "Object.metadata.namespace",
                                      "Object.metadata.uid", "Object.metadata.resourceVersion",
                                      "Object.metadata.creationTimestamp"};
  for (kube::AnyPath path : kShown)
    if (const json::value* found = kube::find(object, path)) metadata[path.key()] = *found;
  json::object status{{"replicas", number_at(object, paths.status).value_or(0)}};
  const json::value* own = paths.selector.empty() ? nullptr : at(object, paths.selector);
  std::string selector = kind.rules
                             ? (own && own->is_string() ? std::string(own->get_string()) : "")
                             : selector_text(object);
  if (!selector.empty()) status["selector"] = std::move(selector);
  return {{"kind", "Scale"},
          {"apiVersion", "autoscaling/v1"},
          {"metadata", std::move(metadata)},
          {"spec", {{"replicas", number_at(object, paths.spec).value_or(0)}}},
          {"status", std::move(status)}};
}

ApiResult<json::value> rescaled(const Kind& scaled, const json::value& object,
                                const json::value& scale) {
  const ScalePaths& paths = paths_of(scaled);
  const std::int64_t replicas = kube::int_at(scale, "Scale.spec.replicas").value_or(0);
  if (replicas < 0 && scaled.rules) {
    const std::string why =
        fmt::format("Invalid value: {}: should be a non-negative integer", replicas);
    return invalid(scaled, kube::name_of(object), {{"FieldValueInvalid", why, paths.spec}});
  }
  if (replicas < 0 || replicas > std::numeric_limits<std::int32_t>::max()) {
    std::vector<Cause> causes{
        {"FieldValueInvalid",
         fmt::format("Invalid value: {}: must be greater than or equal to 0", replicas),
         "spec.replicas"}};
    Kind kind;
    kind.group = "autoscaling";
    kind.kind = "Scale";
    return invalid(kind, kube::name_of(object), std::move(causes));
  }
  json::value out = object;
  json::value* holder = &out;
  const std::vector<std::string_view> way = steps(paths.spec);
  for (std::size_t i = 0; i + 1 < way.size(); ++i) holder = &make_object(*holder, {})[way[i]];
  if (!way.empty()) make_object(*holder, {})[way.back()] = replicas;
  // Keeps these from the Scale, so that a stale one conflicts.
  constexpr kube::AnyPath kFromScale[] = {"Scale.metadata.resourceVersion", "Scale.metadata.uid"};
  for (kube::AnyPath path : kFromScale)
    if (const json::value* found = kube::find(scale, path))
      kube::make_object(out, "Object.metadata")[path.key()] = *found;
  return out;
}

}  // namespace

Task<HandlerResult> Subresources::get_scale(CallPtr call) {
  const ResourcePath& target = call->target;
  PLIM_CO_TRY(store::EntryPtr entry, find_entry(core_, *target.kind, target.ns, target.name));
  const json::value object = decode_object(*entry->value);
  const ScalePaths& paths = paths_of(*target.kind);
  if (target.kind->rules && !at(object, paths.spec)) {
    std::string message = fmt::format("the spec replicas field \"{}\" does not exist", paths.spec);
    ErrorDetails details{.causes = {{"", message, ""}}};
    co_return ApiError{.code = 500,
                       .reason = "InternalError",
                       .message = "Internal error occurred: " + message,
                       .details = std::move(details)};
  }
  co_return text_reply(*call, 200, to_json(scale_of(*target.kind, object)));
}

Task<HandlerResult> Subresources::change_scale(CallPtr call, Edit edit) {
  const ResourcePath& target = call->target;
  UpdateRequest request{.call = call,
                        .kind = target.kind,
                        .ns = target.ns,
                        .name = target.name,
                        .subresource = "scale"};
  PLIM_CO_TRY(request.dry_run, parse_dry_run(*call, "UpdateOptions"));
  request.shown = [](const Admission& admission) {
    auto out = std::make_shared<Admission>(admission);
    out->object = scale_of(*admission.kind, admission.object);
    out->before = scale_of(*admission.kind, admission.before);
    out->object_kind =
        Admission::ObjectKind{.group = "autoscaling", .version = "v1", .kind = "Scale"};
    return out;
  };
  request.edit = [edit = std::move(edit),
                  kind = target.kind](const json::value& now) -> ApiResult<json::value> {
    PLIM_TRY(json::value scale, edit(scale_of(*kind, now)));
    return rescaled(*kind, now, scale);
  };
  PLIM_CO_TRY(Written written, co_await writer_.update(std::move(request)));
  co_return text_reply(*call, 200, to_json(scale_of(*target.kind, decode_object(*written.bytes))));
}

Task<HandlerResult> Subresources::finalize(CallPtr call) {
  const ResourcePath& target = call->target;
  PLIM_CO_TRY(json::value sent, decode_body(*call));
  UpdateRequest request{.call = call,
                        .kind = target.kind,
                        .ns = target.ns,
                        .name = target.name,
                        .subresource = "finalize",
                        .scope = Scope::all};
  PLIM_CO_TRY(request.dry_run, parse_dry_run(*call, "UpdateOptions"));
  request.edit = [sent = std::move(sent)](const json::value& now) -> ApiResult<json::value> {
    json::value out = now;
    const json::value* finalizers = kube::find(sent, "Namespace.spec.finalizers");
    if (finalizers)
      kube::make_object(out, "Namespace.spec")["finalizers"] = *finalizers;
    else
      kube::make_object(out, "Namespace.spec").erase("finalizers");
    const std::string_view version = kube::resource_version_of(sent);
    if (!version.empty()) kube::make_object(out, "Object.metadata")["resourceVersion"] = version;
    return out;
  };
  PLIM_CO_TRY(Written written, co_await writer_.update(std::move(request)));
  co_return object_reply(*call, 200, *target.kind, *written.bytes, core_.clock.wall());
}

Task<HandlerResult> Subresources::make_token(CallPtr call) {
  const ResourcePath& target = call->target;
  PLIM_CO_TRY(json::value asked,
              decode_body_as(*call, "authentication.k8s.io", "v1", "TokenRequest"));
  PLIM_CO_TRY(store::EntryPtr entry, find_entry(core_, *target.kind, target.ns, target.name));
  TokenRequest request{.ns = target.ns, .account = target.name, .account_uid = {}};
  request.account_uid = kube::uid_of(decode_object(*entry->value));
  const std::int64_t seconds =
      kube::int_at(asked, "AuthenticationTokenRequest.spec.expirationSeconds")
          .value_or(kUsualToken);
  if (seconds < kShortestToken) {
    std::vector<Cause> causes{{"FieldValueInvalid",
                               fmt::format("Invalid value: {}: may not specify a duration less "
                                           "than 10 minutes",
                                           seconds),
                               "spec.expirationSeconds"}};
    Kind kind;
    kind.group = "authentication.k8s.io";
    kind.kind = "TokenRequest";
    co_return invalid(kind, "", std::move(causes));
  }
  request.lifetime = std::chrono::seconds(std::min<std::int64_t>(seconds, 1LL << 32));
  const json::value* audiences = kube::find(asked, "AuthenticationTokenRequest.spec.audiences");
  if (audiences && audiences->is_array())
    for (const json::value& one : audiences->get_array())
      if (one.is_string()) request.audiences.emplace_back(one.get_string());
  if (request.audiences.empty()) request.audiences.push_back(tokens_.issuer());
  if (const json::value* bound =
          kube::find(asked, "AuthenticationTokenRequest.spec.boundObjectRef")) {
    const KindPtr kind =
        core_.kinds.find_kind("", kube::text_at(*bound, "BoundObjectReference.kind"));
    const std::string_view name = kube::text_at(*bound, "BoundObjectReference.name");
    if (!kind || (kind->kind != "Pod" && kind->kind != "Secret"))
      co_return bad_request(fmt::format("cannot bind token to object of type /{}, Kind={}",
                                        kube::text_at(*bound, "BoundObjectReference.apiVersion"),
                                        kube::text_at(*bound, "BoundObjectReference.kind")));
    PLIM_CO_TRY(store::EntryPtr object, find_entry(core_, *kind, target.ns, name));
    const json::value found = decode_object(*object->value);
    const std::string_view uid = kube::text_at(*bound, "BoundObjectReference.uid");
    if (!uid.empty() && uid != kube::uid_of(found))
      co_return conflict(*kind, name, "the UID in the bound object reference is another's");
    request.bound_kind = kind->kind;
    request.bound_name = name;
    request.bound_uid = kube::uid_of(found);
  }
  PLIM_CO_TRY(std::string token, tokens_.issue(request));
  json::object& spec = kube::make_object(asked, "AuthenticationTokenRequest.spec");
  spec["expirationSeconds"] = seconds;
  spec["audiences"] = json::array(request.audiences.begin(), request.audiences.end());
  json::object& metadata = kube::make_object(asked, "AuthenticationTokenRequest.metadata");
  metadata["name"] = target.name;
  metadata["namespace"] = target.ns;
  metadata["creationTimestamp"] = format_rfc3339(core_.clock.wall());
  kube::make_object(asked, "AuthenticationTokenRequest.status") = {
      {"token", token},
      {"expirationTimestamp", format_rfc3339(core_.clock.wall() + request.lifetime)}};
  co_return text_reply(*call, 201, to_json(asked));
}

}  // namespace plim::local::apiserver
