// The actions probes and lifecycle hooks are made of: exec, httpGet, tcpSocket, sleep.
#pragma once

#include <chrono>
#include <string>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/task.hpp"
#include "local/kubelet/shim/shim_client.hpp"

namespace plim::local::kubelet {

// Whom the action is about. The shim and the clock outlive it.
struct HandlerTarget {
  std::string pod_ip;
  json::value container;  // its spec, for ports by name
  std::string id;         // of the run
  ShimClient* shim = nullptr;
  Clock* clock = nullptr;
};

struct HandlerOutcome {
  bool success = false;
  std::string output;  // what went wrong, or what the program said
};

// The port as a number: 8080, "8080" or the name of one of the container's ports; 0: unknown.
int resolve_port(const json::value& container, const json::value* port);

// `handler` holds one of the actions by name, as in a probe. gRPC is looked at as a plain
// connection.
Task<HandlerOutcome> run_handler(json::value handler, HandlerTarget target,
                                 std::chrono::milliseconds timeout);

}  // namespace plim::local::kubelet
