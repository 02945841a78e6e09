// The Kubernetes API on top of the store, for kubectl, our roles and the controllers.
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

// The user of a request, as the authenticators determine it.
struct User {
  std::string name = {};
  std::vector<std::string> groups = {};
  std::string uid = {};
};

struct Hooks;
class Kinds;

struct ApiOptions {
  // Its user is in group system:masters; "" for none.
  std::string admin_token = {};
  // Signs the tokens of service accounts. "": a new key is made, and tokens end with this process.
  std::string service_account_key_pem = {};
  std::string issuer = "https://kubernetes.default.svc.cluster.local";
  // For connections to the kubelets of nodes.
  net::ClientTls kubelet_tls = {};
  // Creates namespaces, priority classes and the Service `kubernetes` if they are missing.
  bool built_in_objects = true;
  // Further watches are rejected with Retry-After.
  std::size_t max_watches = 10'000;
};

// Belongs to the store's loop; co_await stop() before destroying it.
class ApiServer {
 public:
  static Result<std::unique_ptr<ApiServer>> create(Executor loop, Clock& clock, store::Store& store,
                                                   ApiOptions options = {});
  virtual ~ApiServer() = default;

  // Creates the built-in objects. Await it before anything else.
  virtual Task<Result<void>> start() = 0;
  // Handles one HTTP request, authenticated by certificate or token. For the catch-all route of
  // net::Server.
  virtual Task<net::Reply> handle(net::Request request) = 0;
  // The same API without HTTP, for the controllers and nodes of this process. The server outlives
  // the client.
  virtual std::shared_ptr<kube::Client> client(User user) = 0;
  virtual Task<void> stop() = 0;

  // The hooks for admission, authorization and computed kinds (local/apiserver/api/hooks.hpp).
  virtual Hooks& hooks() = 0;
  // The served kinds; custom kinds are added here (local/apiserver/api/kinds.hpp).
  virtual Kinds& kinds() = 0;
};

}  // namespace plim::local::apiserver
