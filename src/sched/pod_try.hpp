// One try to place a pod, and what its steps share.
#pragma once

#include <memory>
#include <string>

#include "base/clock.hpp"
#include "sched/cluster_feed.hpp"
#include "sched/config.hpp"
#include "sched/extender_set.hpp"
#include "sched/klog.hpp"
#include "sched/scheduler_metrics.hpp"
#include "sched/scheduler_state.hpp"
#include "sched/scheduling_queue.hpp"

namespace plim::sched {

// Begins when the queue hands out the pod. Ends when the queue learns that the pod is done, was
// rejected or has failed.
struct PodTry {
  SchedulingQueue::Attempt attempt;
  std::shared_ptr<const Configuration> config;  // owns the profile
  const Profile* profile = nullptr;
  SteadyTime started{};
  WallTime wall{};

  const kube::Pod& pod() const { return *attempt.pod; }

  const std::string& scheduler() const { return profile->scheduler_name; }
};

// What the steps of every try share. The daemon owns it.
struct TryContext {
  SchedulerState& state;
  const ClusterFeed& feed;
  ExtenderSet& extenders;
  SchedulerMetrics& metrics;
  Klog& klog;
  Clock& clock;
};

}  // namespace plim::sched
