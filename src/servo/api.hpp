// The servo's HTTP API: runs, health and metrics.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "net/server.hpp"
#include "servo/metrics.hpp"
#include "servo/run_store.hpp"

namespace plim::servo {

// Accepts app, namespace, pod, since (a time or an age such as 2h), limit, continue. Unknown names
// are errors, so that a mistyped filter does not show everything.
Result<RunQuery> parse_run_query(std::string_view query, WallTime now);
// {"items":[…],"continue":"…"}
json::object page_to_json(const RunPage& page);

// Everything handed in must outlive the server and belong to its loop.
struct ApiParts {
  RunStore& store;
  Metrics& metrics;
  Clock& clock;
  std::function<std::string()> not_ready;  // the reason; "": ready
};

std::vector<net::Route> api_routes(ApiParts parts);

}  // namespace plim::servo
