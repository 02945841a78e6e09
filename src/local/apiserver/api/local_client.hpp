// kube::Client without a network: passes requests directly to the server.
#pragma once

#include <functional>
#include <memory>

#include "kube/client.hpp"
#include "local/apiserver/api/api_server.hpp"
#include "local/apiserver/api/error.hpp"
#include "local/apiserver/api/watch_session.hpp"

namespace plim::local::apiserver {

// The functions of the server that the client needs.
class LocalEntry {
 public:
  virtual ~LocalEntry() = default;
  virtual Task<net::Reply> serve(User user, net::Request request) = 0;
  virtual Task<ApiResult<std::unique_ptr<WatchSession>>> open_watch(User user,
                                                                    net::Request request) = 0;
  virtual Executor executor() const = 0;
};

// `entry` outlives it.
std::shared_ptr<kube::Client> make_local_client(LocalEntry& entry, User user);

}  // namespace plim::local::apiserver
