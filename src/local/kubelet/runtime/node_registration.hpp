// Keeps a node registered at the API: its object, its status and its lease.
#pragma once

#include <functional>
#include <memory>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "local/kubelet/runtime/node_object.hpp"
#include "local/kubelet/runtime/node_options.hpp"

namespace plim::local::kubelet {

// Belongs to the node's loop; co_await stop() before destroying it.
class NodeRegistration {
 public:
  static constexpr std::chrono::seconds kLeaseDuration{40}, kLeaseRenewal{10};
  static constexpr std::chrono::minutes kStatusEvery{5};
  static constexpr std::chrono::seconds kStatusLook{10};  // the interval of a kubelet

  NodeRegistration(const Executor& loop, std::shared_ptr<kube::Client> client, Clock& clock,
                   const NodeOptions& options, std::function<NodeFacts()> facts);

  // On success the object exists and has its status.
  Task<Result<void>> enter();
  void start();
  Task<void> stop();
  void facts_changed();

  // The object as last written.
  const json::value& node() const { return node_; }

 private:
  Task<Result<void>> write_status();
  Task<bool> is_thought_silent();
  Task<Result<void>> renew_lease();
  Task<void> keep_status();
  Task<void> keep_lease();

  std::shared_ptr<kube::Client> client_;
  Clock& clock_;
  const NodeOptions& options_;
  std::function<NodeFacts()> facts_;
  json::value node_;
  bool dirty_ = false;
  Event changed_;
  TaskGroup tasks_;
};

}  // namespace plim::local::kubelet
