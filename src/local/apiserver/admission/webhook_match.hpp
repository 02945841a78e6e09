// Decides whether a webhook is called for a write.
#pragma once

#include "base/json.hpp"
#include "base/result.hpp"
#include "local/apiserver/admission/webhook.hpp"
#include "local/apiserver/api/hooks.hpp"

namespace plim::local::apiserver {

// "CREATE", "UPDATE", …
std::string_view operation_name(Admission::Operation operation);

// Checks rules and selectors. `namespace_labels` are those of the object's namespace, or of the
// object itself if it is a namespace. They are null for all other cluster-scoped kinds, which no
// namespaceSelector excludes.
bool selects(const Webhook& webhook, const Admission& admission,
             const json::object* namespace_labels);

// Checks the match conditions; `request` is that of the review. Code::invalid names the condition
// that cannot be evaluated, unless another one is false.
Result<bool> conditions_hold(const Webhook& webhook, const json::value& request);

}  // namespace plim::local::apiserver
