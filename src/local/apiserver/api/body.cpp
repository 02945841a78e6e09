#include "local/apiserver/api/body.hpp"

#include <fmt/format.h>

#include "base/yaml.hpp"
#include "kube/paths.hpp"
#include "local/apiserver/api/kind_rules.hpp"
#include "local/apiserver/api/negotiation.hpp"
#include "local/apiserver/api/protobuf_body.hpp"
#include "local/apiserver/schema/body_decode.hpp"
#include "local/apiserver/schema/schema.hpp"

namespace plim::local::apiserver {
namespace {

constexpr std::size_t kMaxManager = 128;

// The envelope names the kind; the caller compares it with the expected one.
ApiResult<json::value> parse_protobuf(std::string_view body, const Type& type,
                                      std::string_view kind) {
  PLIM_TRY(ProtobufEnvelope envelope, open_protobuf(body));
  json::value out = json::object();
  if (envelope.kind.empty() || envelope.kind == kind) {
    PLIM_TRY(out, decode_protobuf(type, envelope.object));
  }
  if (!envelope.kind.empty()) out.as_object()["kind"] = envelope.kind;
  if (!envelope.api_version.empty()) out.as_object()["apiVersion"] = envelope.api_version;
  return out;
}

// Parses the body in any encoding. `schema` is null for a custom resource.
ApiResult<json::value> parse_any(const Call& call, const Type* schema, std::string_view kind,
                                 FieldMistakes& mistakes) {
  const auto types = parse_media_types(call.headers.get("Content-Type"));
  const std::string type = types.empty() ? "application/json" : types.front().type;
  if (type == "application/yaml") {
    auto out = parse_yaml(call.body, "", {.duplicate_keys = DuplicateKeys::last_wins});
    if (!out)
      return bad_request(fmt::format("error converting YAML to JSON: {}", out.error().message));
    return std::move(*out);
  }
  if (type == "application/json" || type.empty()) {
    PLIM_TRY(json::value out, parse_body(call.body, mistakes));
    return out;
  }
  if (type == kProtobufType && schema) return parse_protobuf(call.body, *schema, kind);
  return ApiError{.code = 415,
                  .reason = "UnsupportedMediaType",
                  .message =
                      "the body of the request was in an unknown format - accepted media "
                      "types include: application/json, application/yaml, "
                      "application/vnd.kubernetes.protobuf"};
}

// "apps/v1" -> "apps" and "v1".
std::pair<std::string_view, std::string_view> group_and_version(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  if (slash == api_version.npos) return {"", api_version};
  return {api_version.substr(0, slash), api_version.substr(slash + 1)};
}

// Upstream distinguishes unknown kinds from known kinds that are wrong here.
std::string why_not(std::string_view sent_kind, std::string_view sent_version,
                    std::string_view kind, std::string_view api_version) {
  const auto [group, version] = group_and_version(sent_version);
  if (find_type(group, version, sent_kind) == nullptr)
    return fmt::format("no kind \"{}\" is registered for version \"{}\"", sent_kind, sent_version);
  const std::string_view own_group = group_and_version(api_version).first;
  return fmt::format("converting ({}.{}) to ({}.{}): unknown conversion", version, sent_kind,
                     own_group.empty() ? "core" : own_group.substr(0, own_group.find('.')), kind);
}

// Sets kind and apiVersion from the path if they are missing, as in Bindings.
ApiResult<void> identify(json::value& object, std::string_view kind, std::string_view api_version) {
  if (!object.is_object()) return bad_request("the body of the request is not an object");
  std::string_view sent_kind = kube::text_at(object, "Object.kind");
  std::string_view sent_version = kube::text_at(object, "Object.apiVersion");
  if (sent_kind.empty()) sent_kind = kind;
  if (sent_version.empty()) sent_version = api_version;
  if (sent_kind != kind || sent_version != api_version)
    return bad_request(fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", sent_kind,
                                   group_and_version(sent_version).second, kind,
                                   why_not(sent_kind, sent_version, kind, api_version)));
  object.as_object()["kind"] = kind;
  object.as_object()["apiVersion"] = api_version;
  return {};
}

ApiError cannot_be_handled(std::string_view kind, std::string_view version, std::string_view why) {
  return bad_request(
      fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", kind, version, kind, why));
}

}  // namespace

ApiResult<FieldValidation> parse_field_validation(const Call& call) {
  const std::string_view value = call.query.text("fieldValidation");
  if (value.empty() || value == "Warn") return FieldValidation::warn;
  if (value == "Ignore") return FieldValidation::ignore;
  if (value == "Strict") return FieldValidation::strict;
  return invalid_options(
      "CreateOptions",
      {{"FieldValueNotSupported",
        fmt::format(R"(Unsupported value: "{}": supported values: "", "Ignore", "Strict", "Warn")",
                    value),
        "fieldValidation"}});
}

ApiResult<void> report_mistakes(Call& call, std::string_view kind,
                                const std::vector<std::string>& mistakes) {
  PLIM_TRY(FieldValidation validation, parse_field_validation(call));
  if (mistakes.empty() || validation == FieldValidation::ignore) return {};
  if (validation == FieldValidation::warn) {
    call.warnings.insert(call.warnings.end(), mistakes.begin(), mistakes.end());
    return {};
  }
  return cannot_be_handled(kind, call.kind().version,
                           fmt::format("strict decoding error: {}", fmt::join(mistakes, ", ")));
}

ApiResult<json::value> conform_object(Call& call, json::value object,
                                      std::vector<std::string> mistakes) {
  const Kind& kind = call.kind();
  Result<void> good;
  if (kind.rules)
    good = kind.rules->conform(object, mistakes);
  else if (kind.type)
    good = conform(*kind.type, object, mistakes);
  if (!good) return cannot_be_handled(kind.kind, kind.version, good.error().message);
  PLIM_CHECK(report_mistakes(call, kind.kind, mistakes));
  return object;
}

ApiResult<json::value> decode_body(Call& call) {
  FieldMistakes mistakes;
  const Kind& kind = call.kind();
  PLIM_TRY(json::value object, parse_any(call, kind.type, kind.kind, mistakes));
  PLIM_CHECK(identify(object, kind.kind, kind.api_version));
  return conform_object(call, std::move(object), std::move(mistakes));
}

ApiResult<json::value> decode_body_as(Call& call, std::string_view group, std::string_view version,
                                      std::string_view kind, std::string_view older_version) {
  FieldMistakes mistakes;
  const Type* type = find_type(group, version, kind);
  PLIM_TRY(json::value object, parse_any(call, type, kind, mistakes));
  if (!older_version.empty() &&
      kube::text_at(object, "Object.apiVersion") == fmt::format("{}/{}", group, older_version))
    object.as_object().erase("apiVersion");
  PLIM_CHECK(identify(object, kind,
                      group.empty() ? std::string(version) : fmt::format("{}/{}", group, version)));
  if (type) {
    auto good = conform(*type, object, mistakes);
    if (!good) return cannot_be_handled(kind, version, good.error().message);
  }
  PLIM_CHECK(report_mistakes(call, kind, mistakes));
  return object;
}

ApiResult<json::value> decode_options(Call& call) {
  if (call.body.empty()) return json::value(json::object());
  FieldMistakes mistakes;
  const Type* type = find_type("", "v1", "DeleteOptions");
  PLIM_TRY(json::value out, parse_any(call, type, "DeleteOptions", mistakes));
  if (!out.is_object()) return bad_request("the options of the request are not an object");
  // Upstream returns 500 for invalid options.
  if (auto good = conform(*type, out, mistakes); !good)
    return ApiError{.code = 500, .reason = "", .message = good.error().message};
  const std::string_view kind = kube::text_at(out, "DeleteOptions.kind");
  if (!kind.empty() && kind != "DeleteOptions")
    return bad_request(fmt::format("{} cannot be handled as DeleteOptions", kind));
  return out;
}

ApiResult<bool> parse_dry_run(const Call& call, std::string_view options_kind) {
  const std::vector<std::string> values = call.query.all("dryRun");
  for (const std::string& value : values)
    if (value != "All")
      return invalid_options(options_kind,
                             {{"FieldValueNotSupported",
                               fmt::format(R"(Unsupported value: {}: supported values: "All")",
                                           to_json(json::array(values.begin(), values.end()))),
                               "dryRun"}});
  if (call.query.text("fieldManager").size() > kMaxManager)
    return invalid_options(
        options_kind,
        {{"FieldValueTooLong", fmt::format("Too long: may not be more than {} bytes", kMaxManager),
          "fieldManager"}});
  return !values.empty();
}

}  // namespace plim::local::apiserver
