// Serves `plimsoll status`, `node` and `images` for a running cluster: JSON over a socket that only
// the cluster's user can open.
#pragma once

#include <memory>
#include <string>

#include "base/json.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "local/cluster/nodes.hpp"
#include "net/server.hpp"

namespace plim::local::cluster {

class Cluster;

// Belongs to the cluster's loop; co_await stop() before destroying it.
class Control {
 public:
  static Result<std::unique_ptr<Control>> listen(const Executor& loop, std::string socket,
                                                 Cluster& cluster);
  Task<void> stop();

 private:
  explicit Control(Cluster& cluster) : cluster_(cluster) {}

  Task<net::Reply> handle(net::Request request);
  Task<Result<json::value>> answer(std::string path, std::string body);
  Task<Result<json::value>> change_nodes(std::string verb, json::value body);
  Task<Result<json::value>> change_images(std::string verb, json::value body);

  Cluster& cluster_;
  std::unique_ptr<net::Server> server_;
};

}  // namespace plim::local::cluster
