#include "local/sim/simulation.hpp"

#include <algorithm>
#include <utility>

#include "local/sim/sim_usage.hpp"

namespace plim::local::sim {

Simulation::Simulation(const Executor& loop, const std::shared_ptr<kube::Client>& client,
                       Clock& clock, SimulatorOptions options, Random& random)
    : clock_(clock),
      options_(std::move(options)),
      pods_seen_(loop, client, kube::resources::pods, kube::pod_codec(pool_), {}, clock, random),
      nodes_seen_(loop, client, kube::resources::nodes, kube::node_codec(pool_), {}, clock, random),
      by_node_(pods_seen_.add_index([](const kube::Pod& pod) {
        return std::vector<std::string>{std::string(pod.spec.node_name.view())};
      })),
      events_(loop, client, {.component = "plimsoll-sim"}, clock),
      node_made_(loop),
      api_(client, stats_),
      jobs_(loop, clock, options_.at_once, stats_, [this](Job job) { return run(std::move(job)); }),
      context_{clock, options_, random, api_, jobs_, stats_},
      stages_(context_, events_),
      nodes_(context_, nodes_seen_.store(), stages_),
      pods_(context_, pods_seen_.store(), nodes_, stages_) {}

void Simulation::start() {
  nodes_seen_.add_handlers(
      {.on_add = [this](const NodePointer& node) { see_node(*node); },
       .on_update = [this](const NodePointer&, const NodePointer& node) { see_node(*node); },
       .on_delete = [this](const NodePointer& node) { nodes_.forget(node->meta.name); }});
  pods_seen_.add_handlers(
      {.on_add = [this](const PodPointer& pod) { pods_.see(*pod); },
       .on_update = [this](const PodPointer&, const PodPointer& pod) { pods_.see(*pod); },
       .on_delete = [this](const PodPointer& pod) { pods_.forget(kube::object_key(pod->meta)); }});
  jobs_.start();
  events_.start();
  nodes_seen_.start();
  pods_seen_.start();
}

Task<Result<void>> Simulation::make_nodes() {
  co_await nodes_seen_.wait_synced();
  co_await pods_seen_.wait_synced();
  const auto wanted = static_cast<std::uint32_t>(std::max(0, options_.nodes));
  for (std::uint32_t i = 1; i <= wanted; ++i) jobs_.add({Job::What::make_node, {}, i});
  while (stats_.nodes_made < wanted) co_await node_made_.wait();
  co_return Result<void>();
}

Task<void> Simulation::stop() {
  co_await pods_seen_.stop();
  co_await nodes_seen_.stop();
  co_await jobs_.stop();
  co_await events_.stop();
}

// A pod may have been bound before its node was seen.
void Simulation::see_node(const kube::Node& node) {
  if (nodes_.see(node))
    for (const PodPointer& pod : pods_seen_.store().indexed(by_node_, node.meta.name))
      pods_.see(*pod);
  nodes_.plan(node);
}

Task<void> Simulation::run(Job job) {
  switch (job.what) {
    case Job::What::make_node:
      return make_node(std::move(job));
    case Job::What::node:
      return nodes_.act(std::move(job));
    case Job::What::lease:
      return nodes_.renew_lease(std::move(job));
    case Job::What::images:
      return nodes_.report_images(std::move(job));
    case Job::What::inventory:
      return nodes_.inventories().report(std::move(job));
    case Job::What::kinds:
      return nodes_.inventories().look_for_kind();
    case Job::What::pod:
      break;
  }
  return pods_.act(std::move(job));
}

Task<void> Simulation::make_node(Job job) {
  co_await nodes_.make(std::move(job));
  node_made_.notify();
}

std::optional<node::NodeUsage> Simulation::usage(std::string_view node) const {
  if (!nodes_.plays(node)) return std::nullopt;
  return pretended_usage(pods_seen_.store().indexed(by_node_, node), clock_.wall());
}

}  // namespace plim::local::sim
