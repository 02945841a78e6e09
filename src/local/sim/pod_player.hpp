// Acts for pods on simulated nodes: they start, end and restart as annotations or stages say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/store.hpp"
#include "kube/types.hpp"
#include "local/sim/node_player.hpp"
#include "local/sim/sim_context.hpp"
#include "local/sim/stage_runner.hpp"

namespace plim::local::sim {

// Owns the state of pods on simulated nodes. Belongs to the simulation's loop; its arguments
// outlive it.
class PodPlayer {
 public:
  PodPlayer(const SimContext& context, const kube::Store<kube::Pod>& objects, NodePlayer& nodes,
            StageRunner& stages);

  // The object was added or has changed, or its node is new.
  void see(const kube::Pod& pod);

  void forget(const std::string& key) { pods_.erase(key); }

  Task<void> act(Job job);  // Job::What::pod

 private:
  struct SimPod : Tracked {
    std::string ip;
    std::string trouble;  // why its image cannot be pulled
    // The generation whose resources the status shows. A spec that never changed has generation 1.
    std::int64_t shown = 1;
    // Exact times, because a status has only whole seconds. Unknown after the simulation restarts.
    std::optional<SteadyTime> starts = {}, began = {};
  };

  void plan(const kube::Pod& pod, const std::string& key, SimPod& sim);
  void plan_built_in(const kube::Pod& pod, const std::string& key, SimPod& sim);
  static bool is_resized(const kube::Pod& pod, const SimPod& sim);
  Nanos start_wait(const kube::Pod& pod, SimPod& sim);
  void finish(Job job, const Result<void>& done);
  json::value status_patch(const kube::Pod& pod, SimPod& sim);
  const std::string& ip_of(SimPod& sim);

  SimContext sim_;
  const kube::Store<kube::Pod>& objects_;
  NodePlayer& nodes_;
  StageRunner& stages_;
  bool has_stages_;
  kube::TextMap<SimPod> pods_;   // by namespace/name
  std::uint32_t addresses_ = 0;  // addresses assigned so far
};

}  // namespace plim::local::sim
