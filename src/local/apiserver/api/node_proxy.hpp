// Requests that are passed on to a node: logs of its pods and everything else its kubelet serves.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/task.hpp"
#include "local/apiserver/api/call.hpp"
#include "local/apiserver/api/core.hpp"
#include "net/client.hpp"
#include "net/server.hpp"

namespace plim::local::apiserver {

// Belongs to the store's loop.
class NodeProxy {
 public:
  NodeProxy(Core& core, net::ClientTls tls)
      : core_(core), tls_(std::move(tls)), streams_(core.loop) {}

  // GET pods/NAME/log.
  Task<ApiResult<net::Reply>> log(CallPtr call);
  // Any method on nodes/NAME/proxy/…
  Task<ApiResult<net::Reply>> forward(CallPtr call, std::string query);

  Task<void> stop() { return streams_.stop(); }

 private:
  // Whether errors of a node are passed on as plain text or as the Status that clients expect.
  enum class Refusals : std::uint8_t { as_they_are, as_status };

  Task<ApiResult<net::Reply>> send(std::string node, net::Request request, Refusals refusals);
  ApiResult<std::shared_ptr<net::Client>> client_of(const std::string& node);
  Task<void> pump(std::shared_ptr<net::ResponseStream> answer, std::shared_ptr<net::Sink> sink);

  Core& core_;
  net::ClientTls tls_;
  std::map<std::string, std::shared_ptr<net::Client>> clients_;  // by address
  TaskGroup streams_;
};

}  // namespace plim::local::apiserver
