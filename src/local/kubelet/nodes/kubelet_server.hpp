// The HTTPS server of a node: the part of a kubelet's API that agents and the API server read.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "local/images/images.hpp"
#include "local/kubelet/nodes/cgroups.hpp"
#include "local/kubelet/nodes/kubelet_pods.hpp"
#include "local/kubelet/nodes/usage_sampler.hpp"
#include "net/http.hpp"
#include "net/tls.hpp"

namespace plim::local::kubelet {

// Checks whether this peer, or the owner of the token, may do `verb` ("get") with
// nodes/<subresource> ("pods", "stats", "metrics", "log", "configz", "healthz", "proxy"). If it may
// not, the server checks "proxy" too, which allows all of them. Errors: Code::unauthorized,
// Code::forbidden.
using KubeletAccess = std::function<Task<Result<void>>(net::Peer peer, std::string token,
                                                       std::string verb, std::string subresource)>;

struct KubeletServerOptions {
  std::string node;
  std::string address = "127.0.0.1:0";  // if the port is taken, the next free one is used
  net::ServerTls tls;
  KubeletAccess access;
};

// Belongs to the node's loop, like everything it shows; co_await stop() before destroying it.
class KubeletServer {
 public:
  static Result<std::unique_ptr<KubeletServer>> start(Executor loop, Clock& clock,
                                                      KubeletServerOptions options,
                                                      KubeletPods& pods, const NodeCgroups& cgroups,
                                                      const images::NodeImages& images);
  virtual ~KubeletServer() = default;
  virtual std::uint16_t port() const = 0;
  virtual UsageSampler& usage() = 0;  // also for metrics.k8s.io
  virtual Task<void> stop() = 0;
};

}  // namespace plim::local::kubelet
