// The agent's HTTP API: metrics, health, state.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "net/server.hpp"

namespace plim::agent {

// Called on the loop of the server.
struct EndpointSource {
  std::function<std::shared_ptr<const std::string>()> metrics;  // null: no metrics yet
  std::function<bool()> alive;
  std::function<std::string()> not_ready;  // the reason, for users; "": ready
  std::function<json::value()> state;
};

Result<std::unique_ptr<net::Server>> serve_endpoint(Executor loop, const std::string& listen,
                                                    EndpointSource source);

// The HTTP listeners of a process. An address that is in two successive calls stays open in
// between. Belongs to one loop; co_await stop() before destroying it.
class Endpoints {
 public:
  using MakeSource = std::function<EndpointSource(const std::string& listen)>;

  // `opened` is called with each address that is open now, with the real port instead of 0.
  Endpoints(Executor loop, MakeSource make, std::function<void(const std::string& address)> opened)
      : loop_(std::move(loop)), make_(std::move(make)), opened_(std::move(opened)) {}

  // Listens on exactly these addresses.
  Task<Result<void>> open(std::vector<std::string> wanted);
  Task<void> stop();

 private:
  Executor loop_;
  MakeSource make_;
  std::function<void(const std::string& address)> opened_;
  std::map<std::string, std::unique_ptr<net::Server>> servers_;
};

}  // namespace plim::agent
