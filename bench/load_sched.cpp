// Pods that wait for a scheduler: how fast it gives them nodes, and how fast the API would let it.
#include <algorithm>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "load.hpp"
#include "sched_shapes.hpp"
#include "tally.hpp"

namespace plim::bench {
namespace {

bool has_node(const kube::Pod& pod) {
  return !pod.spec.node_name.empty();
}

// Admission taints new nodes until a controller sees them ready; here none runs.
net::Request untaint(std::size_t index) {
  net::Request out =
      json_request("PATCH", "/api/v1/nodes/" + node_name(index), R"({"spec":{"taints":null}})");
  out.headers.set("Content-Type", "application/merge-patch+json");
  return out;
}

net::Request waiting_pod(std::size_t index, const SchedShape& shape) {
  return json_request("POST", fmt::format("/api/v1/namespaces/{}/pods", kNamespace),
                      waiting_pod_text(index, shape));
}

// The nodes, unless they are there, and pods in place of those before.
Task<Result<Numbers>> make_pods_and_nodes(Executor loop, LoadOptions options,
                                          Burst::Make make_pod) {
  PLIM_CO_TRY(auto clients, connect(loop, options, options.connections));
  std::shared_ptr<kube::Client> first = clients.front();
  PLIM_CO_CHECK(co_await make_namespace(*first));
  PLIM_CO_CHECK(co_await remove_pods(*first, options.limit));
  net::Request probe = json_request("GET", "/api/v1/nodes/" + node_name(options.nodes - 1), "");
  auto there = co_await call(*first, std::move(probe));
  if (!there) {
    auto make = [](std::size_t i) {
      return json_request("POST", "/api/v1/nodes", fake_node_text(i));
    };
    Burst nodes(loop, clients, make);
    PLIM_CO_CHECK(co_await nodes.run(options.nodes));
    Burst untainted(loop, clients, untaint);
    PLIM_CO_CHECK(co_await untainted.run(options.nodes));
  }
  Burst pods(loop, std::move(clients), std::move(make_pod));
  PLIM_CO_CHECK(co_await pods.run(options.pods));
  Numbers out{{"nodes", static_cast<double>(options.nodes)},
              {"pods", static_cast<double>(options.pods)}};
  co_return out;
}

}  // namespace

net::Request binding_request(std::size_t pod, std::size_t nodes) {
  json::object body{{"apiVersion", "v1"},
                    {"kind", "Binding"},
                    {"metadata", {{"name", pod_name(pod)}, {"namespace", kNamespace}}},
                    {"target", {{"kind", "Node"}, {"name", node_name(pod % nodes)}}}};
  return json_request(
      "POST", fmt::format("/api/v1/namespaces/{}/pods/{}/binding", kNamespace, pod_name(pod)),
      to_json(body));
}

Task<Result<Numbers>> load_pending(Executor loop, LoadOptions options) {
  const SchedShape& shape = *std::ranges::find(kSchedShapes, options.shape, &SchedShape::name);
  auto make = [&shape](std::size_t i) { return waiting_pod(i, shape); };
  return make_pods_and_nodes(std::move(loop), std::move(options), make);
}

Task<Result<Numbers>> load_filled(Executor loop, LoadOptions options) {
  const std::size_t nodes = options.nodes;
  auto placed_pod = [nodes](std::size_t i) {
    return json_request("POST", fmt::format("/api/v1/namespaces/{}/pods", kNamespace),
                        pod_text({.name = pod_name(i), .node = node_name(i % nodes)}));
  };
  return make_pods_and_nodes(std::move(loop), std::move(options), std::move(placed_pod));
}

Task<Result<Numbers>> load_bound(Executor loop, LoadOptions options) {
  PLIM_CO_TRY(auto clients, connect(loop, options, 1));
  kube::InternPool pool;
  Tally<kube::Pod> pods(loop, clients.front(), kube::resources::pods, kube::pod_codec(pool),
                        has_node);
  co_await pods.start();
  const SteadyTime end = system_clock().steady() + options.limit;
  auto waited = co_await pods.wait_good(1, end);
  const SteadyTime first = system_clock().steady();
  if (waited) waited = co_await pods.wait_good(options.pods, end);
  const double seconds = Seconds(system_clock().steady() - first).count();
  co_await pods.stop();
  if (!waited) co_return std::move(waited).error();
  Numbers out{{"pods", static_cast<double>(options.pods)},
              {"seconds", seconds},
              {"bound_per_second", static_cast<double>(options.pods) / seconds}};
  co_return out;
}

Task<Result<Numbers>> load_bind(Executor loop, LoadOptions options) {
  PLIM_CO_TRY(auto clients, connect(loop, options, options.connections));
  auto bind = [nodes = options.nodes](std::size_t i) { return binding_request(i, nodes); };
  Burst burst(loop, std::move(clients), bind);
  PLIM_CO_CHECK(co_await burst.run(options.pods));
  Numbers out{{"pods", static_cast<double>(options.pods)},
              {"seconds", burst.took().count()},
              {"bound_per_second", static_cast<double>(options.pods) / burst.took().count()}};
  co_return out;
}

}  // namespace plim::bench
