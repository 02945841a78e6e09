// Tries for pods that extenders take part in. They run one at a time, while other pods are decided
// without waiting for the extenders' answers.
#pragma once

#include <functional>

#include "base/clock.hpp"
#include "base/task.hpp"
#include "sched/decider.hpp"
#include "sched/extender_round.hpp"
#include "sched/pod_tries.hpp"
#include "sched/pod_try.hpp"

namespace plim::sched {

// The engine changes while a try waits for answers. So a try keeps only names of nodes across a
// wait, and at the end it decides again, in one step with assuming the pod on its node.
//
// Belongs to one loop; co_await stop() before destroying it.
class ExtenderTries {
 public:
  // `on_end` is called after each try.
  ExtenderTries(const Executor& loop, const TryContext& context, Decider& decider, PodTries& tries,
                std::function<void()> on_end);
  Task<void> stop();

  // Returns at once. Only while not busy().
  void start(PodTry current);

  bool busy() const { return busy_; }

 private:
  Task<void> run(PodTry current);
  Task<void> ask(PodTry current);
  Task<void> refuse(PodTry current, Decision decision, ExtenderRound::Extenders extenders);

  SchedulerState& state_;
  const ExtenderSet& extenders_;
  Clock& clock_;
  Decider& decider_;
  PodTries& tries_;
  std::function<void()> on_end_;
  ExtenderRound round_;
  bool busy_ = false;
  TaskGroup tasks_;
};

}  // namespace plim::sched
