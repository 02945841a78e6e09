// The whole role: daemon, leader election and secure port, from start to stop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/config.hpp"
#include "kube/etcd.hpp"
#include "kube/leader_election.hpp"
#include "net/tls.hpp"
#include "sched/daemon.hpp"
#include "sched/explain_ring.hpp"
#include "sched/secure_server.hpp"

namespace plim::sched {

struct ServiceOptions {
  DaemonOptions daemon;
  kube::Config cluster;
  // The clients that authenticate and authorize requests; by default those of the cluster.
  std::optional<kube::Config> token_cluster, rights_cluster;
  std::string address;                    // "" for no secure port
  std::optional<net::ServerTls> tls;      // none: self-signed
  bool lookup_client_ca = true;           // from the cluster's ConfigMap
  std::optional<kube::EtcdOptions> etcd;  // where agents may publish inventories
  ReviewOptions review;
};

// Belongs to one loop; co_await stop() before destroying it.
class Service {
 public:
  // on_lost: another process leads now, so this one has to end.
  Service(const Executor& loop, ServiceOptions options, metrics::Registry& registry,
          std::function<void()> on_lost);

  Result<void> start();
  // Releases the lease.
  Task<void> stop();

  Daemon& daemon() { return *daemon_; }

  // The new configuration, or why it cannot be used.
  void reload(Result<ConfigRead> read);

  std::string address() const { return server_ ? server_->address() : ""; }

  bool leads() const { return leading_; }

 private:
  ExplainRecord record_of(const DecisionNote& note) const;
  Result<void> listen();
  void start_election();
  void record_leader_change(std::string_view what);
  Task<void> lookup_client_ca();

  Executor loop_;
  ServiceOptions options_;
  metrics::Registry& registry_;
  std::function<void()> on_lost_;
  std::shared_ptr<kube::Client> client_, event_client_, lease_client_;
  ReviewClients review_clients_;
  std::unique_ptr<Daemon> daemon_;
  std::unique_ptr<kube::LeaderElector> elector_;
  std::unique_ptr<SecureServer> server_;
  ExplainRing decisions_;
  metrics::Gauge* reload_success_ = nullptr;
  bool leading_ = false, stopping_ = false;
  TaskGroup tasks_;
};

}  // namespace plim::sched
