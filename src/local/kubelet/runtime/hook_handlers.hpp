// The actions of probes and lifecycle hooks: exec, httpGet, tcpSocket, sleep.
#pragma once

#include <chrono>
#include <string>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/task.hpp"
#include "local/kubelet/shim/shim_client.hpp"

namespace plim::local::kubelet {

// The container that the action is for. The shim and the clock outlive it.
struct HandlerTarget {
  std::string pod_ip;
  json::value container;  // its spec, for named ports
  std::string id;         // of the run
  ShimClient* shim = nullptr;
  Clock* clock = nullptr;
};

struct HandlerOutcome {
  bool success = false;
  std::string output;  // the failure, or the program's output
};

// The port as a number. `port` is 8080, "8080" or the name of a port of the container. 0: unknown.
int resolve_port(const json::value& container, const json::value* port);

// `handler` holds one of the actions by name, as in a probe. A gRPC probe only checks that the
// port accepts connections.
Task<HandlerOutcome> run_handler(json::value handler, HandlerTarget target,
                                 std::chrono::milliseconds timeout);

}  // namespace plim::local::kubelet
