// metrics.k8s.io: what nodes and pods use, for `kubectl top` and autoscalers.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "local/apiserver/api/hooks.hpp"
#include "local/kubelet/nodes/usage_sampler.hpp"

namespace plim::local::cluster {

// Computes the objects for each request: the nodes or pods that a list with the same selectors
// returns, if a node knows their usage. Belongs to the API server's loop.
class UsageMetrics {
 public:
  using UsageOf = std::function<std::optional<node::NodeUsage>(std::string_view node)>;

  UsageMetrics(std::shared_ptr<kube::Client> client, Clock& clock, UsageOf usage)
      : client_(std::move(client)), clock_(clock), usage_(std::move(usage)) {}

  Task<apiserver::ApiResult<net::Reply>> answer(apiserver::CallPtr call);

 private:
  json::array node_metrics(const json::value& nodes);
  json::array pod_metrics(const json::value& pods);

  std::shared_ptr<kube::Client> client_;
  Clock& clock_;
  UsageOf usage_;
};

}  // namespace plim::local::cluster
