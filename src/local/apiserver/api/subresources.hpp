// Subresources with verbs of their own.
#pragma once

#include "base/task.hpp"
#include "local/apiserver/api/access.hpp"
#include "local/apiserver/api/call.hpp"
#include "local/apiserver/api/core.hpp"
#include "local/apiserver/api/deletion.hpp"
#include "local/apiserver/api/service_account_tokens.hpp"
#include "local/apiserver/api/writes.hpp"
#include "net/server.hpp"

namespace plim::local::apiserver {

using HandlerResult = ApiResult<net::Reply>;

// Belongs to the store's loop.
class Subresources {
 public:
  Subresources(Core& core, const ServiceAccountTokens& tokens)
      : core_(core), tokens_(tokens), writer_(core), deleter_(core) {}

  // POST pods/NAME/binding, and POST bindings, whose body names the pod.
  Task<HandlerResult> bind(CallPtr call);
  Task<HandlerResult> evict(CallPtr call);
  Task<HandlerResult> get_scale(CallPtr call);
  // `edit` turns the current Scale into the new one.
  Task<HandlerResult> change_scale(CallPtr call, Edit edit);
  Task<HandlerResult> finalize(CallPtr call);
  Task<HandlerResult> make_token(CallPtr call);

 private:
  // The admission for a creation that refers to a pod, such as a Binding.
  AdmissionPtr admission_of(const CallPtr& call, std::string subresource,
                            Admission::ObjectKind kind) const;
  // 429 if a disruption budget does not allow it; otherwise uses up one disruption.
  Task<ApiResult<void>> spend_budget(CallPtr call, std::string ns, std::string name);

  Core& core_;
  const ServiceAccountTokens& tokens_;
  Writer writer_;
  Deleter deleter_;
};

}  // namespace plim::local::apiserver
