// The device plugins of all pools of a node.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/clock.hpp"
#include "base/task.hpp"
#include "pools/endpoint.hpp"

namespace plim::pools {

struct PluginsOptions {
  std::string directory;  // the kubelet's directory device-plugins
  CpuListFormat format = CpuListFormat::list;
  std::string starter = {};  // as in EndpointOptions
};

// Belongs to one loop; co_await stop() before destroying it. The state must outlive it.
class Plugins {
 public:
  Plugins(const Executor& loop, Clock& clock, PoolState& state, PluginsOptions options,
          EndpointHooks hooks = {});

  // Removes sockets of an earlier process, then starts.
  void start();
  Task<void> stop();
  // Updates endpoints and device lists from the state.
  void sync();
  // True if all are registered and the kubelet watches their device lists.
  bool ready() const;

 private:
  Task<void> watch();
  Task<void> end(std::unique_ptr<Endpoint> endpoint);
  std::string free_socket(std::string_view pool);

  Executor loop_;
  Clock& clock_;
  PoolState& state_;
  PluginsOptions options_;
  EndpointHooks hooks_;
  std::map<std::string, std::unique_ptr<Endpoint>> endpoints_;  // by resource
  std::set<std::string> sockets_;  // of all endpoints, also of those that end
  bool started_ = false;
  TaskGroup tasks_, ending_;
};

}  // namespace plim::pools
