// The body of a request as an object of the type it should be.
#pragma once

#include <string_view>

#include "local/apiserver/api/call.hpp"

namespace plim::local::apiserver {

// What to do with fields the type does not have; Warn unless the request says otherwise.
enum class FieldValidation : std::uint8_t { ignore, warn, strict };

ApiResult<FieldValidation> parse_field_validation(const Call& call);
// Refuses them or adds them to the call's warnings.
ApiResult<void> report_mistakes(Call& call, std::string_view kind,
                                const std::vector<std::string>& mistakes);

// An object of the call's own kind, in canonical form. Kind and apiVersion are filled in where they
// are missing; others than those of the path are refused.
ApiResult<json::value> decode_body(Call& call);
// An object of any kind of the schema: Binding, Scale, TokenRequest, …
// `older_version`: one whose objects have the same fields.
ApiResult<json::value> decode_body_as(Call& call, std::string_view group, std::string_view version,
                                      std::string_view kind, std::string_view older_version = {});
// What a tree should be as an object of the call's kind: after patches, too.
ApiResult<json::value> conform_object(Call& call, json::value object,
                                      std::vector<std::string> mistakes);

// The options of a DELETE: an empty body is fine.
ApiResult<json::value> decode_options(Call& call);
// dryRun=All; 422 for any other value.
ApiResult<bool> parse_dry_run(const Call& call, std::string_view options_kind);

}  // namespace plim::local::apiserver
