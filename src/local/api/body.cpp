#include "local/api/body.hpp"

#include <fmt/format.h>

namespace plim::local {

ApiResult<json::value> decode_body(Call& call, std::string_view kind,
                                   std::string_view api_version) {
  auto object = parse_json(call.body);
  if (!object || !object->is_object())
    return bad_request(fmt::format("the body is no JSON object: {}",
                                   object ? "expected an object" : object.error().message));
  const std::string_view sent_kind = text_at(*object, {"kind"});
  const std::string_view sent_version = text_at(*object, {"apiVersion"});
  if (!sent_kind.empty() && sent_kind != kind)
    return bad_request(fmt::format("{} in version \"{}\" cannot be handled as a {}", sent_kind,
                                   sent_version, kind));
  if (!sent_version.empty() && sent_version != api_version)
    return bad_request(
        fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                    sent_version, api_version));
  object->as_object()["kind"] = kind;
  object->as_object()["apiVersion"] = api_version;
  return std::move(*object);
}

ApiResult<json::value> decode_options(const Call& call) {
  if (call.body.empty()) return json::value(json::object());
  auto out = parse_json(call.body);
  if (!out || !out->is_object())
    return bad_request(fmt::format("the options are no JSON object: {}",
                                   out ? "expected an object" : out.error().message));
  return std::move(*out);
}

ApiResult<bool> parse_dry_run(const Call& call, std::string_view options_kind) {
  const std::vector<std::string> values = call.query.all("dryRun");
  for (const std::string& value : values)
    if (value != "All")
      return invalid_options(
          options_kind,
          {{"FieldValueNotSupported",
            fmt::format(R"(Unsupported value: "{}": supported values: "All")", value), "dryRun"}});
  return !values.empty();
}

}  // namespace plim::local
