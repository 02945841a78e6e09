// Decodes the body of a request into an object of the expected type.
#pragma once

#include <string_view>

#include "local/apiserver/api/call.hpp"

namespace plim::local::apiserver {

// How to treat unknown fields; Warn unless the request sets fieldValidation.
enum class FieldValidation : std::uint8_t { ignore, warn, strict };

ApiResult<FieldValidation> parse_field_validation(const Call& call);
// Rejects the mistakes, or adds them to the call's warnings.
ApiResult<void> report_mistakes(Call& call, std::string_view kind,
                                const std::vector<std::string>& mistakes);

// An object of the call's own kind, in canonical form. Fills in kind and apiVersion if they are
// missing; rejects them if they differ from the path.
ApiResult<json::value> decode_body(Call& call);
// An object of any kind of the schema: Binding, Scale, TokenRequest, …
// `older_version` has objects with the same fields and is accepted too.
ApiResult<json::value> decode_body_as(Call& call, std::string_view group, std::string_view version,
                                      std::string_view kind, std::string_view older_version = {});
// Validates and normalizes an object of the call's kind, for example after a patch.
ApiResult<json::value> conform_object(Call& call, json::value object,
                                      std::vector<std::string> mistakes);

// The options of a DELETE; the body may be empty.
ApiResult<json::value> decode_options(Call& call);
// True for dryRun=All; 422 for any other value.
ApiResult<bool> parse_dry_run(const Call& call, std::string_view options_kind);

}  // namespace plim::local::apiserver
