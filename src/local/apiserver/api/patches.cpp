#include "local/apiserver/api/patches.hpp"

#include <fmt/format.h>

#include "base/yaml.hpp"
#include "kube/object.hpp"
#include "kube/paths.hpp"
#include "local/apiserver/api/body.hpp"
#include "local/apiserver/api/kind_rules.hpp"
#include "local/apiserver/patch/patch.hpp"
#include "local/apiserver/patch/server_side_apply.hpp"
#include "local/apiserver/schema/body_decode.hpp"

namespace plim::local::apiserver {
namespace {

ApiError unsupported(const Kind& kind) {
  if (kind.rules)
    return {.code = 415,
            .reason = "UnsupportedMediaType",
            .message =
                "the body of the request was in an unknown format - accepted media types "
                "include: application/json-patch+json, application/merge-patch+json, "
                "application/apply-patch+yaml"};
  return {.code = 415,
          .reason = "UnsupportedMediaType",
          .message = "415: Unsupported Media Type",
          .details = ErrorDetails{}};
}

ApiResult<PatchKind> kind_of(const Call& call) {
  const auto types = parse_media_types(call.headers.get("Content-Type"));
  const std::string type = types.empty() ? "" : types.front().type;
  if (type == "application/json-patch+json") return PatchKind::json;
  if (type == "application/merge-patch+json") return PatchKind::merge;
  if (type == "application/apply-patch+yaml") return PatchKind::apply;
  const bool has_schema = call.kind().type != nullptr || call.target.subresource == "scale";
  if (type == "application/strategic-merge-patch+json" && has_schema) return PatchKind::strategic;
  return unsupported(call.kind());
}

ApiResult<void> check_options(const Call& call, PatchKind kind) {
  if (kind == PatchKind::apply && call.query.text("fieldManager").empty())
    return invalid_options(
        "PatchOptions",
        {{"FieldValueRequired", "Required value: is required for apply patch", "fieldManager"}});
  if (kind != PatchKind::apply && call.query.has("force"))
    return invalid_options(
        "PatchOptions",
        {{"FieldValueForbidden", "Forbidden: may not be specified for non-apply patch", "force"}});
  return {};
}

ApiError patch_error(const Kind& kind, std::string_view name, Error error,
                     std::vector<Cause> causes) {
  ApiError out = error_of(std::move(error));
  if (!causes.empty())
    out.details = ErrorDetails{.name = std::string(name),
                               .group = kind.group,
                               .kind = kind.plural,
                               .causes = std::move(causes)};
  // Upstream does not report which operation of a JSON patch failed.
  if (out.reason == "Invalid" && !out.details) {
    out.message = "the server rejected our request due to an error in our request";
    out.details = ErrorDetails{};
  }
  return out;
}

// A patch may contain name, namespace and UID, but must not change them.
ApiResult<void> check_same_object(const Kind& kind, const json::value& now,
                                  const json::value& patched) {
  if (kube::name_of(patched).empty()) return without_a_name(kube::name_of(now));
  const std::string_view uid = kube::uid_of(patched);
  if (!uid.empty() && uid != kube::uid_of(now))
    return invalid(
        kind, kube::name_of(now),
        {{"FieldValueInvalid", fmt::format("Invalid value: \"{}\": field is immutable", uid),
          "metadata.uid"}});
  const std::string_view space = kube::namespace_of(patched);
  if (!space.empty() && space != kube::namespace_of(now))
    return bad_request(
        "the namespace of the provided object does not match the namespace sent on the request");
  return {};
}

ApiResult<json::value> apply_patch(const Core& core, const Call& call, const Patch& patch,
                                   json::value object) {
  const Kind& kind = call.kind();
  std::vector<Cause> causes;
  Result<json::value> out = json::value();
  switch (patch.kind) {
    case PatchKind::json:
      out = apply_json_patch(std::move(object), patch.body);
      break;
    case PatchKind::merge:
      out = apply_merge_patch(std::move(object), patch.body);
      break;
    case PatchKind::strategic:
      out = apply_strategic_merge(*kind.type, std::move(object), patch.body);
      break;
    case PatchKind::apply: {
      const ApplyRequest request{.manager = std::string(call.query.text("fieldManager")),
                                 .api_version = kind.api_version,
                                 .subresource = call.target.subresource,
                                 .force = call.query.flag("force"),
                                 .now = core.clock.wall()};
      out = apply_server_side(kind.rules ? kind.rules->apply_type() : kind.type, std::move(object),
                              patch.body, request, &causes);
      break;
    }
  }
  if (!out) return patch_error(kind, call.target.name, out.error(), std::move(causes));
  return std::move(*out);
}

// A patched object may be as invalid as a body.
ApiResult<json::value> checked(Call& call, json::value object) {
  if (!object.is_object()) return bad_request("the patch leaves no object");
  const std::string_view made = kube::text_at(object, "Object.kind");
  if (call.kind().rules && !made.empty() && made != call.kind().kind) {
    Kind other = call.kind();
    other.kind = made;
    const std::string why =
        fmt::format("Invalid value: \"{}\": must be {}", made, call.kind().kind);
    return invalid(other, call.target.name, {{"FieldValueInvalid", why, "kind"}});
  }
  object.as_object()["kind"] = call.kind().kind;
  object.as_object()["apiVersion"] = call.kind().api_version;
  return conform_object(call, std::move(object), {});
}

// The object was valid before, so this is 422; the same mistake in a body is 400.
ApiError blamed_on_patch(const ApiError& error) {
  if (error.code != 400) return error;
  const std::string why = fmt::format("Invalid value: {}", error.message);
  return {.code = 422,
          .reason = "Invalid",
          .message = fmt::format(" \"\" is invalid: patch: {}", why),
          .details = ErrorDetails{.causes = {{"FieldValueInvalid", why, "patch"}}}};
}

}  // namespace

ApiResult<Patch> parse_patch(const Call& call) {
  Patch out;
  PLIM_TRY(out.kind, kind_of(call));
  PLIM_CHECK(check_options(call, out.kind));
  if (out.kind == PatchKind::apply) {
    auto body = parse_yaml(call.body);
    if (!body) return bad_request(fmt::format("error decoding YAML: {}", body.error().message));
    out.body = std::move(*body);
  } else {
    FieldMistakes mistakes;
    PLIM_TRY(out.body, parse_body(call.body, mistakes));
  }
  if (out.kind != PatchKind::json && !out.body.is_object())
    return bad_request("the patch is not an object");
  if (out.kind == PatchKind::apply) {
    const std::string_view kind = kube::text_at(out.body, "Object.kind");
    const std::string_view name = kube::name_of(out.body);
    const std::string_view version = kube::text_at(out.body, "Object.apiVersion");
    if (call.target.subresource != "scale" && kind != call.kind().kind)
      return bad_request(fmt::format("invalid object type: {}{}, Kind={}",
                                     version.find('/') == version.npos ? "/" : "", version, kind));
    if (!name.empty() && name != call.target.name)
      return bad_request(
          fmt::format("the name of the object ({}) does not match the name on the URL ({})", name,
                      call.target.name));
  }
  return out;
}

Edit patch_edit(const Core& core, CallPtr call, Patch patch) {
  return [&core, call = std::move(call),
          patch = std::move(patch)](const json::value& now) -> ApiResult<json::value> {
    const auto& conversion = call->kind().conversion;
    call->warnings.clear();  // drops those of an earlier try
    PLIM_TRY(json::value patched,
             apply_patch(core, *call, patch, conversion ? conversion->to_served(now) : now));
    auto out = checked(*call, std::move(patched));
    if (!out) return patch.kind == PatchKind::apply ? out.error() : blamed_on_patch(out.error());
    PLIM_CHECK(check_same_object(call->kind(), now, *out));
    return conversion ? conversion->to_stored(std::move(*out)) : std::move(*out);
  };
}

Edit scale_patch_edit(Patch patch) {
  return [patch = std::move(patch)](const json::value& scale) -> ApiResult<json::value> {
    if (patch.kind == PatchKind::json) {
      PLIM_TRY(json::value out, apply_json_patch(scale, patch.body));
      return out;
    }
    // A Scale has no lists, so all other patch types are equal to a merge patch.
    return apply_merge_patch(scale, patch.body);
  };
}

ApiResult<json::value> applied_to_nothing(const Core& core, const CallPtr& call,
                                          const Patch& patch) {
  PLIM_TRY(json::value out, apply_patch(core, *call, patch, json::object()));
  kube::make_object(out, "Object.metadata")["name"] = call->target.name;
  return checked(*call, std::move(out));
}

}  // namespace plim::local::apiserver
