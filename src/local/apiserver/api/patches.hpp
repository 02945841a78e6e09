// Turns PATCH requests into edits of objects.
#pragma once

#include "local/apiserver/api/call.hpp"
#include "local/apiserver/api/core.hpp"
#include "local/apiserver/api/writes.hpp"

namespace plim::local::apiserver {

enum class PatchKind : std::uint8_t { json, merge, strategic, apply };

struct Patch {
  PatchKind kind = PatchKind::merge;
  json::value body = {};
};

// Reads the Content-Type. 415 for unknown types, and for strategic merge of kinds without a schema.
// 422 for invalid options.
ApiResult<Patch> parse_patch(const Call& call);

// Edits a stored object of the call's kind.
Edit patch_edit(const Core& core, CallPtr call, Patch patch);
// Edits a Scale.
Edit scale_patch_edit(Patch patch);
// The object that an apply patch creates.
ApiResult<json::value> applied_to_nothing(const Core& core, const CallPtr& call,
                                          const Patch& patch);

}  // namespace plim::local::apiserver
