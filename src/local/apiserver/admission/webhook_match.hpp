// Is a webhook to be asked about a write?
#pragma once

#include "base/json.hpp"
#include "base/result.hpp"
#include "local/apiserver/admission/webhook.hpp"
#include "local/apiserver/api/hooks.hpp"

namespace plim::local::apiserver {

// "CREATE", "UPDATE", …
std::string_view operation_name(Admission::Operation operation);

// By its rules and selectors. `namespace_labels`: of the namespace that the object is in, or of the
// object itself if it is a namespace; null for all other cluster-wide kinds, which no
// namespaceSelector leaves out.
bool selects(const Webhook& webhook, const Admission& admission,
             const json::object* namespace_labels);

// By its match conditions; `request` is that of the review. Code::invalid names the condition that
// cannot be evaluated, unless another one is false.
Result<bool> conditions_hold(const Webhook& webhook, const json::value& request);

}  // namespace plim::local::apiserver
