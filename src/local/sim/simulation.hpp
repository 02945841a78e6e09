// The parts of a simulator and how they are connected. For .cpp files of this folder only.
//
// Informers report the objects, NodePlayer and PodPlayer plan jobs for them, and Jobs runs each job
// at its time. A job sends at most a few requests through SimApi.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "base/event.hpp"
#include "kube/event_recorder.hpp"
#include "kube/informer.hpp"
#include "local/sim/jobs.hpp"
#include "local/sim/node_player.hpp"
#include "local/sim/pod_player.hpp"
#include "local/sim/sim_api.hpp"
#include "local/sim/sim_context.hpp"
#include "local/sim/simulator.hpp"
#include "local/sim/stage_runner.hpp"

namespace plim::local::sim {

// Belongs to one loop; co_await stop() before destroying it.
class Simulation {
 public:
  Simulation(const Executor& loop, const std::shared_ptr<kube::Client>& client, Clock& clock,
             SimulatorOptions options, Random& random);

  void start();
  // Call it after start(). Returns when the requested nodes exist.
  Task<Result<void>> make_nodes();
  Task<void> stop();

  const Simulator::Stats& stats() const { return stats_; }

  std::size_t nodes() const { return nodes_.size(); }

  std::optional<node::NodeUsage> usage(std::string_view node) const;

 private:
  using PodPointer = std::shared_ptr<const kube::Pod>;
  using NodePointer = std::shared_ptr<const kube::Node>;

  void see_node(const kube::Node& node);
  Task<void> run(Job job);
  Task<void> make_node(Job job);

  Clock& clock_;
  const SimulatorOptions options_;
  Simulator::Stats stats_;
  kube::InternPool pool_;
  kube::Informer<kube::Pod> pods_seen_;
  kube::Informer<kube::Node> nodes_seen_;
  std::size_t by_node_;  // index of pods_seen_
  kube::EventRecorder events_;
  Event node_made_;
  SimApi api_;
  Jobs jobs_;
  SimContext context_;
  StageRunner stages_;
  NodePlayer nodes_;
  PodPlayer pods_;
};

}  // namespace plim::local::sim
