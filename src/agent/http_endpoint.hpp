// The agent's HTTP face: metrics, health, state.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/json.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "net/server.hpp"

namespace plim::agent {

// Called on the loop of the server.
struct EndpointSource {
  std::function<std::shared_ptr<const std::string>()> metrics;  // null: nothing yet
  std::function<bool()> alive;
  std::function<std::string()> not_ready;  // why, for people; "": it is
  std::function<json::value()> state;
};

Result<std::unique_ptr<net::Server>> serve_endpoint(Executor loop, const std::string& listen,
                                                    EndpointSource source);

}  // namespace plim::agent
