#include "sched/cache_dumper.hpp"

#include <utility>

#include "base/log.hpp"

namespace plim::sched {

CacheDumper::CacheDumper(const Executor& loop, std::shared_ptr<kube::Client> client,
                         const SchedulerState& state, Klog& klog, Clock& clock)
    : state_(state), klog_(klog), comparer_(std::move(client), state, clock), tasks_(loop) {}

Task<void> CacheDumper::stop() {
  co_await tasks_.stop();
}

void CacheDumper::dump() {
  dump_cache(state_, klog_);
  if (!std::exchange(comparing_, true)) tasks_.spawn("compare the cache", compare());
}

Task<void> CacheDumper::compare() {
  const Result<CacheDifference> found = co_await comparer_.compare();
  comparing_ = false;
  if (found)
    log_difference(state_, *found, klog_);
  else
    log::warn("scheduler", "cannot compare the cache with the API server",
              {{"error", found.error()}});
}

}  // namespace plim::sched
