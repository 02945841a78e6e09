// The scheduler's HTTPS port: health, metrics, configuration, decisions.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/metrics.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "net/server.hpp"
#include "sched/review.hpp"

namespace plim::sched {

struct HealthCheck {
  std::string name;
  std::function<bool()> good;
  bool for_ready_only = false;
};

struct SecureServerOptions {
  std::string address;  // host:port
  net::ServerTls tls;
  ReviewOptions review;
  std::vector<HealthCheck> checks;
  std::function<std::string()> configuration;                 // YAML or JSON for /configz
  std::function<void(int)> set_verbosity;                     // PUT /debug/flags/v
  std::function<void()> before_metrics;                       // updates gauges
  std::function<std::string()> pod_resources;                 // /metrics/resources
  std::function<net::Response(const net::Request&)> explain;  // null: 404
};

// Belongs to one loop; co_await drain() before destroying it.
class SecureServer {
 public:
  static Result<std::unique_ptr<SecureServer>> listen(const Executor& loop,
                                                      SecureServerOptions options,
                                                      ReviewClients clients,
                                                      metrics::Registry& registry);

  std::string address() const { return server_->address(); }

  Result<void> set_tls(net::ServerTls tls) { return server_->set_tls(std::move(tls)); }

  Task<void> drain();

 private:
  SecureServer(SecureServerOptions options, ReviewClients clients, metrics::Registry& registry);

  Task<net::Reply> answer(net::Request request);
  net::Response serve(const net::Request& request);
  net::Response health(const net::Request& request) const;
  std::string health_metrics() const;

  SecureServerOptions options_;
  AccessReview review_;
  metrics::Registry& registry_;
  std::unique_ptr<net::Server> server_;
};

// The names and addresses of this machine, for a self-signed certificate.
Result<net::ServerTls> self_signed_tls(const std::string& host);
// The certificate in kube-scheduler.crt and .key of this directory. Writes a self-signed one if
// there is none or if it has expired. Clients verify it with the file kube-scheduler.crt.
Result<net::ServerTls> kept_tls(const std::string& host, const std::string& directory);

}  // namespace plim::sched
