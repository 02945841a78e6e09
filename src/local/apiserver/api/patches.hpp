// PATCH requests as edits of objects.
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

// By the Content-Type; 415 for others, and for strategic merge where no schema says how. 422 for
// options that do not fit.
ApiResult<Patch> parse_patch(const Call& call);

// From stored object to stored object, of the call's kind.
Edit patch_edit(const Core& core, CallPtr call, Patch patch);
// From Scale to Scale.
Edit scale_patch_edit(Patch patch);
// The object that an apply patch creates.
ApiResult<json::value> applied_to_nothing(const Core& core, const CallPtr& call,
                                          const Patch& patch);

}  // namespace plim::local::apiserver
