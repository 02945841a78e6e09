// The Kubernetes API over the store: what kubectl, our roles and the controllers talk to.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "local/store/store.hpp"
#include "net/server.hpp"

namespace plim::local {

// Who asks; decided by the authenticators.
struct User {
  std::string name;
  std::vector<std::string> groups = {};
  std::string uid = {};
};

// Belongs to the store's loop; co_await stop() before destroying it.
class ApiServer {
 public:
  static Result<std::unique_ptr<ApiServer>> create(Executor loop, Clock& clock, Store& store);
  virtual ~ApiServer() = default;

  // One HTTP request, authenticated by its peer's certificate or its token. For net::Server's
  // catch-all route.
  virtual Task<net::Reply> handle(net::Request request) = 0;
  // The same API without HTTP, for the controllers and nodes of this process.
  virtual std::shared_ptr<kube::Client> client(User user) = 0;
  virtual Task<void> stop() = 0;
};

}  // namespace plim::local
