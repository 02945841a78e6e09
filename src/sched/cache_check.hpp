// Compares the cache with the API server's objects and dumps it, on SIGUSR2 as kube-scheduler does.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "sched/klog.hpp"
#include "sched/scheduler_state.hpp"

namespace plim::sched {

// What the cache should contain: nodes by name, and by uid the pods that have a node or wait for
// this scheduler.
struct ListedCluster {
  std::set<std::string> nodes, pods;

  // A pod that is being deleted and has no node does not count.
  void add(const kube::Pod& pod, const SchedulerState& state);
};

// Names of nodes, uids of pods; sorted.
struct CacheDifference {
  std::vector<std::string> missed_nodes, redundant_nodes, missed_pods, redundant_pods;

  bool none() const {
    return missed_nodes.empty() && redundant_nodes.empty() && missed_pods.empty() &&
           redundant_pods.empty();
  }
};

CacheDifference compare_cache(const SchedulerState& state, const ListedCluster& listed);

// The differences that are in both.
CacheDifference common(const CacheDifference& a, const CacheDifference& b);

void dump_cache(const SchedulerState& state, Klog& klog);
void log_difference(const SchedulerState& state, const CacheDifference& difference, Klog& klog);

}  // namespace plim::sched
