// Whether what decisions look at is what the watches brought, and what it is: for SIGUSR2, as
// kube-scheduler does.
#pragma once

#include <string>
#include <vector>

#include "kube/store.hpp"
#include "sched/klog.hpp"
#include "sched/scheduler_state.hpp"

namespace plim::sched {

// Names of nodes, uids of pods; sorted.
struct CacheDifference {
  std::vector<std::string> missed_nodes, redundant_nodes, missed_pods, redundant_pods;

  bool none() const {
    return missed_nodes.empty() && redundant_nodes.empty() && missed_pods.empty() &&
           redundant_pods.empty();
  }
};

CacheDifference compare_cache(const SchedulerState& state, const kube::Store<kube::Node>& nodes,
                              const kube::Store<kube::Pod>& pods);

void log_cache(const SchedulerState& state, const CacheDifference& difference, Klog& klog);

}  // namespace plim::sched
