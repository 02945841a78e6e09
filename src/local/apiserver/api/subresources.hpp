// The parts of objects that have verbs of their own.
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

  // POST pods/NAME/binding, and POST bindings, where the body names the pod.
  Task<HandlerResult> bind(CallPtr call);
  Task<HandlerResult> evict(CallPtr call);
  Task<HandlerResult> get_scale(CallPtr call);
  // `edit` makes the new Scale of the one that is there.
  Task<HandlerResult> change_scale(CallPtr call, Edit edit);
  Task<HandlerResult> finalize(CallPtr call);
  Task<HandlerResult> make_token(CallPtr call);

 private:
  // Of the creation of something that is about a pod.
  AdmissionPtr admission_of(const CallPtr& call, std::string subresource,
                            Admission::ObjectKind kind) const;
  // 429 while a disruption budget says no, else takes one disruption from it.
  Task<ApiResult<void>> spend_budget(CallPtr call, std::string ns, std::string name);

  Core& core_;
  const ServiceAccountTokens& tokens_;
  Writer writer_;
  Deleter deleter_;
};

}  // namespace plim::local::apiserver
