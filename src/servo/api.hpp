// What the servo answers over HTTP: its runs, its health, its metrics.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "net/server.hpp"
#include "servo/metrics.hpp"
#include "servo/run_store.hpp"

namespace plim::servo {

// app, namespace, pod, since (a time or an age such as 2h), limit, continue. Unknown names are
// errors, so that a mistyped filter does not show everything.
Result<RunQuery> parse_run_query(std::string_view query, WallTime now);
// {"items":[…],"continue":"…"}
json::object page_to_json(const RunPage& page);

// Everything handed in must outlive the server and belong to its loop.
struct ApiParts {
  RunStore& store;
  Metrics& metrics;
  Clock& clock;
  std::function<std::string()> not_ready;  // why; "": ready
};

std::vector<net::Route> api_routes(ApiParts parts);

}  // namespace plim::servo
