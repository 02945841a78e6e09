// Applies users' stages to simulated pods and nodes.
#pragma once

#include "base/json.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/event_recorder.hpp"
#include "kube/types.hpp"
#include "local/sim/sim_context.hpp"
#include "local/sim/stage.hpp"

namespace plim::local::sim {

// Belongs to the simulation's loop; context and recorder outlive it.
class StageRunner {
 public:
  StageRunner(const SimContext& context, kube::EventRecorder& events)
      : sim_(context), events_(events) {}

  bool has_stages(std::string_view kind) const;
  // Chooses a stage for the object, or none, and stores it in `tracked`. False: there is nothing to
  // do now, because the stage has a delay or the object cannot be read.
  bool choose(Job job, Tracked& tracked, std::string_view kind, const Result<json::value>& object);
  Task<Result<void>> apply(Stage stage, kube::Resource resource, kube::ObjectMeta meta,
                           Substitutions with);

 private:
  void record(const Stage& stage, const kube::Resource& resource, const kube::ObjectMeta& meta,
              const Substitutions& with);
  Task<Result<void>> change_finalizers(Stage stage, kube::Resource resource, kube::ObjectMeta meta);

  SimContext sim_;
  kube::EventRecorder& events_;
};

}  // namespace plim::local::sim
