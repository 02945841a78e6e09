// What each verb does with a request about resources.
#pragma once

#include "base/task.hpp"
#include "local/api/call.hpp"
#include "local/api/core.hpp"
#include "local/api/deletion.hpp"
#include "local/api/reads.hpp"
#include "local/api/watch.hpp"
#include "local/api/writes.hpp"
#include "net/server.hpp"

namespace plim::local {

using HandlerResult = ApiResult<net::Reply>;

// Belongs to the store's loop.
class Handlers {
 public:
  explicit Handlers(Core& core)
      : core_(core), reader_(core), writer_(core), deleter_(core), streams_(core.loop) {}

  // Decides by method and target; errors are for the caller to encode.
  Task<HandlerResult> handle(CallPtr call);
  Task<ApiResult<std::unique_ptr<WatchSession>>> open_watch(CallPtr call);

  Task<void> stop() { return streams_.stop(); }

 private:
  Task<HandlerResult> get(CallPtr call);
  Task<HandlerResult> list(CallPtr call);
  Task<HandlerResult> watch(CallPtr call);
  Task<HandlerResult> create(CallPtr call);
  Task<HandlerResult> update(CallPtr call);
  Task<HandlerResult> remove(CallPtr call);
  Task<HandlerResult> remove_collection(CallPtr call);
  Task<void> pump(std::shared_ptr<WatchSession> session, std::shared_ptr<net::Sink> sink);

  Core& core_;
  Reader reader_;
  Writer writer_;
  Deleter deleter_;
  TaskGroup streams_;
};

// "get", "list", "watch", "create", …: how authorization and discovery call the request; "" if the
// method is none of Kubernetes'.
std::string_view verb_of(const Call& call);

}  // namespace plim::local
