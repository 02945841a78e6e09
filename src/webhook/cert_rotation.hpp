// Renews the certificates of a running webhook.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "kube/leader_election.hpp"
#include "net/tls.hpp"
#include "webhook/certs.hpp"

namespace plim::webhook {

// Of several replicas the holder of the Lease renews; all use what they find in the Secret. Belongs
// to one loop; co_await stop() before destroying it.
class CertRotation {
 public:
  using OnChange = std::function<void(const net::ServerTls&)>;

  // `serving` is the current certificate of the server. `identity` is unique among the replicas.
  CertRotation(const Executor& loop, std::shared_ptr<kube::Client> client, CertSettings settings,
               net::ServerTls serving, std::string identity, OnChange on_change, Clock& clock);

  void start();
  Task<void> stop();
  // Checks now, instead of within a minute.
  void look();

 private:
  Task<void> keep();

  std::shared_ptr<kube::Client> client_;
  CertSettings settings_;
  net::ServerTls serving_;
  OnChange on_change_;
  Clock& clock_;
  kube::LeaderElector elector_;
  bool asked_ = false;  // by look(), maybe during an earlier check
  Event look_;
  TaskGroup tasks_;
};

}  // namespace plim::webhook
