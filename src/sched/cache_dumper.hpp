// Writes cache and queue to the log, then whether they agree with the API server.
#pragma once

#include <memory>

#include "base/clock.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "sched/cache_comparer.hpp"
#include "sched/klog.hpp"
#include "sched/scheduler_state.hpp"

namespace plim::sched {

// Belongs to one loop; co_await stop() before destroying it.
class CacheDumper {
 public:
  CacheDumper(const Executor& loop, std::shared_ptr<kube::Client> client,
              const SchedulerState& state, Klog& klog, Clock& clock);
  Task<void> stop();

  // Returns at once. The comparison is logged later; only one runs at a time.
  void dump();

 private:
  Task<void> compare();

  const SchedulerState& state_;
  Klog& klog_;
  CacheComparer comparer_;
  bool comparing_ = false;
  TaskGroup tasks_;
};

}  // namespace plim::sched
