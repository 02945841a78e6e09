// Handles requests about resources, verb by verb.
#pragma once

#include "base/task.hpp"
#include "local/apiserver/api/access.hpp"
#include "local/apiserver/api/api_server.hpp"
#include "local/apiserver/api/call.hpp"
#include "local/apiserver/api/collection_deletion.hpp"
#include "local/apiserver/api/core.hpp"
#include "local/apiserver/api/deletion.hpp"
#include "local/apiserver/api/event_expiry.hpp"
#include "local/apiserver/api/node_proxy.hpp"
#include "local/apiserver/api/patches.hpp"
#include "local/apiserver/api/reads.hpp"
#include "local/apiserver/api/subresources.hpp"
#include "local/apiserver/api/watch_session.hpp"
#include "local/apiserver/api/writes.hpp"
#include "net/server.hpp"

namespace plim::local::apiserver {

// Belongs to the store's loop.
class Handlers {
 public:
  Handlers(Core& core, const Authenticator& authenticator, const ServiceAccountTokens& tokens,
           const ApiOptions& options)
      : core_(core),
        authenticator_(authenticator),
        max_watches_(options.max_watches),
        reader_(core),
        writer_(core),
        deleter_(core),
        collections_(core, deleter_),
        subresources_(core, tokens),
        nodes_(core, options.kubelet_tls),
        event_expiry_(core),
        streams_(core.loop) {}

  // Dispatches by method and target; the caller encodes errors.
  Task<HandlerResult> handle(CallPtr call);
  Task<ApiResult<std::unique_ptr<WatchSession>>> open_watch(CallPtr call);
  Task<void> stop();

 private:
  Task<HandlerResult> handle_subresource(CallPtr call, std::string_view verb);
  Task<HandlerResult> handle_scale(CallPtr call, std::string_view verb);
  Task<HandlerResult> get(CallPtr call);
  Task<HandlerResult> list(CallPtr call);
  Task<HandlerResult> watch(CallPtr call);
  Task<HandlerResult> create(CallPtr call);
  Task<HandlerResult> update(CallPtr call);
  Task<HandlerResult> patch(CallPtr call);
  Task<HandlerResult> apply_new(CallPtr call, Patch patch);
  Task<HandlerResult> remove(CallPtr call);
  Task<HandlerResult> remove_collection(CallPtr call);
  Task<void> pump(std::shared_ptr<WatchSession> session, std::shared_ptr<net::Sink> sink);
  UpdateRequest update_request(const CallPtr& call) const;

  Core& core_;
  const Authenticator& authenticator_;
  const std::size_t max_watches_;
  Reader reader_;
  Writer writer_;
  Deleter deleter_;
  CollectionDeleter collections_;
  Subresources subresources_;
  NodeProxy nodes_;
  EventExpiry event_expiry_;
  TaskGroup streams_;
};

// The verb of the request for authorization and discovery: "get", "list", "watch", "create", …; ""
// if Kubernetes does not use the method.
std::string_view verb_of(const Call& call);

}  // namespace plim::local::apiserver
