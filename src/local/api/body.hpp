// The body of a request as an object of the kind it is about.
#pragma once

#include "local/api/call.hpp"

namespace plim::local {

// Kind and apiVersion are filled in where they are missing; others than those of the path are
// refused.
ApiResult<json::value> decode_body(Call& call, std::string_view kind, std::string_view api_version);
// The options of a DELETE: empty bodies are fine.
ApiResult<json::value> decode_options(const Call& call);
// dryRun=All; 422 for any other value.
ApiResult<bool> parse_dry_run(const Call& call, std::string_view options_kind);

}  // namespace plim::local
