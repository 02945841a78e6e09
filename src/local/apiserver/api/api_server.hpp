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
#include "net/tls.hpp"

namespace plim::local::apiserver {

// Who asks; decided by the authenticators.
struct User {
  std::string name = {};
  std::vector<std::string> groups = {};
  std::string uid = {};
};

struct Hooks;
class Kinds;

struct ApiOptions {
  // Belongs to system:masters; "" for none.
  std::string admin_token = {};
  // Signs the tokens of service accounts; "": one is made, and tokens end with this process.
  std::string service_account_key_pem = {};
  std::string issuer = "https://kubernetes.default.svc.cluster.local";
  // How the kubelet endpoints of nodes are reached.
  net::ClientTls kubelet_tls = {};
  // Namespaces, priority classes and the Service `kubernetes`, made when they are missing.
  bool built_in_objects = true;
  // Those beyond are asked to come back later.
  std::size_t max_watches = 10'000;
};

// Belongs to the store's loop; co_await stop() before destroying it.
class ApiServer {
 public:
  static Result<std::unique_ptr<ApiServer>> create(Executor loop, Clock& clock, store::Store& store,
                                                   ApiOptions options = {});
  virtual ~ApiServer() = default;

  // Writes what every cluster has. Await it before anything else.
  virtual Task<Result<void>> start() = 0;
  // One HTTP request, authenticated by its peer's certificate or its token. For net::Server's
  // catch-all route.
  virtual Task<net::Reply> handle(net::Request request) = 0;
  // The same API without HTTP, for the controllers and nodes of this process. The server outlives
  // it.
  virtual std::shared_ptr<kube::Client> client(User user) = 0;
  virtual Task<void> stop() = 0;

  // Where admission, authorization and computed kinds take part (local/api/hooks.hpp).
  virtual Hooks& hooks() = 0;
  // The kinds served; custom ones are added here (local/api/kinds.hpp).
  virtual Kinds& kinds() = 0;
};

}  // namespace plim::local::apiserver
