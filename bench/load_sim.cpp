// Simulated nodes and the pods on them: how long until all are ready, running, gone?
#include <algorithm>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "load.hpp"
#include "tally.hpp"

namespace plim::bench {
namespace {

using namespace std::chrono_literals;

// Simulated here and by kwok alike.
std::string node_text(std::size_t index) {
  const json::value room{{"cpu", "32"}, {"memory", "256Gi"}, {"pods", "110"}};
  json::object node{
      {"apiVersion", "v1"},
      {"kind", "Node"},
      {"metadata",
       {{"name", node_name(index)},
        {"labels", {{"app", "plimsoll-load"}, {"kubernetes.io/hostname", node_name(index)}}},
        {"annotations", {{"plimsoll.io/sim", "true"}, {"kwok.x-k8s.io/node", "fake"}}}}},
      {"spec", json::object()},
      {"status", {{"allocatable", room}, {"capacity", room}}}};
  return to_json(node);
}

bool is_ready(const kube::Node& node) {
  return std::ranges::any_of(node.conditions, [](const kube::Condition& condition) {
    return condition.type == "Ready" && condition.status == "True";
  });
}

bool is_running(const kube::Pod& pod) {
  return pod.status.phase == "Running";
}

class Sim {
 public:
  Sim(Executor loop, LoadOptions options, std::vector<std::shared_ptr<kube::Client>> clients)
      : loop_(std::move(loop)),
        options_(std::move(options)),
        clients_(std::move(clients)),
        nodes_(loop_, clients_.front(), kube::resources::nodes, kube::node_codec(pool_), is_ready),
        pods_(loop_, clients_.front(), kube::resources::pods, kube::pod_codec(pool_), is_running) {}

  Task<Result<Numbers>> run() {
    auto out = co_await measure();
    co_await nodes_.stop();
    co_await pods_.stop();
    co_return out;
  }

 private:
  SteadyTime begin() { return start_ = system_clock().steady(); }

  void note(std::string name) {
    numbers_.emplace_back(std::move(name), Seconds(system_clock().steady() - start_).count());
  }

  Task<Result<void>> send(std::size_t count, Burst::Make make) {
    Burst burst(loop_, clients_, std::move(make));
    co_return co_await burst.run(count);
  }

  Task<Result<Numbers>> measure();

  Executor loop_;
  LoadOptions options_;
  std::vector<std::shared_ptr<kube::Client>> clients_;
  SteadyTime start_;
  Numbers numbers_;
  kube::InternPool pool_;
  Tally<kube::Node> nodes_;
  Tally<kube::Pod> pods_;
};

Task<Result<Numbers>> Sim::measure() {
  PLIM_CO_CHECK(co_await make_namespace(*clients_.front()));
  PLIM_CO_CHECK(co_await remove_pods(*clients_.front(), options_.limit));
  co_await nodes_.start();
  co_await pods_.start();
  numbers_ = {{"nodes", static_cast<double>(options_.nodes)},
              {"pods", static_cast<double>(options_.pods)}};

  Burst::Make make = [](std::size_t i) {
    return json_request("POST", "/api/v1/nodes", node_text(i));
  };
  const SteadyTime nodes_begin = begin();
  PLIM_CO_CHECK(co_await send(options_.nodes, make));
  note("nodes_created_s");
  PLIM_CO_CHECK(co_await nodes_.wait_good(options_.nodes, nodes_begin + options_.limit));
  note("nodes_ready_s");

  make = [nodes = options_.nodes](std::size_t i) {
    return json_request("POST", fmt::format("/api/v1/namespaces/{}/pods", kNamespace),
                        pod_text({.name = pod_name(i), .node = node_name(i % nodes)}));
  };
  const SteadyTime pods_begin = begin();
  PLIM_CO_CHECK(co_await send(options_.pods, make));
  note("pods_created_s");
  PLIM_CO_CHECK(co_await pods_.wait_good(options_.pods, pods_begin + options_.limit));
  note("pods_running_s");
  if (!options_.pids.empty())
    numbers_.emplace_back("server_rss_mb", resident_megabytes(options_.pids));

  net::Request remove =
      json_request("DELETE", fmt::format("/api/v1/namespaces/{}/pods", kNamespace),
                   R"({"kind":"DeleteOptions"})");
  const SteadyTime delete_begin = begin();
  PLIM_CO_TRY(std::string answer, co_await call(*clients_.front(), std::move(remove)));
  note("pods_delete_answered_s");
  PLIM_CO_CHECK(co_await pods_.wait_none(delete_begin + options_.limit));
  note("pods_deleted_s");
  make = [](std::size_t i) {
    return json_request("DELETE", "/api/v1/nodes/" + node_name(i), R"({"kind":"DeleteOptions"})");
  };
  if (!options_.keep) PLIM_CO_CHECK(co_await send(options_.nodes, make));
  co_return numbers_;
}

}  // namespace

Task<Result<Numbers>> load_sim(Executor loop, LoadOptions options) {
  PLIM_CO_TRY(auto clients, connect(loop, options, options.connections));
  Sim sim(std::move(loop), std::move(options), std::move(clients));
  co_return co_await sim.run();
}

}  // namespace plim::bench
