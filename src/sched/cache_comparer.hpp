// Lists nodes and pods from the API server and compares them with the scheduler's cache. Belongs to
// one loop.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "kube/decode.hpp"
#include "sched/cache_check.hpp"

namespace plim::sched {

// The pods that a scheduler follows.
inline constexpr std::string_view kRunningPods = "status.phase!=Succeeded,status.phase!=Failed";

class CacheComparer {
 public:
  CacheComparer(std::shared_ptr<kube::Client> client, const SchedulerState& state, Clock& clock)
      : client_(std::move(client)), state_(state), clock_(clock) {}

  // Lists and watches never show the same moment. So only differences count that a second list
  // still shows after the watches had time to catch up.
  Task<Result<CacheDifference>> compare();

 private:
  Task<Result<CacheDifference>> compare_once();
  using TakePage = std::function<Result<kube::ListMeta>(kube::JsonText page)>;
  Task<Result<void>> list(kube::Resource resource, kube::ListOptions options, TakePage take);

  std::shared_ptr<kube::Client> client_;
  const SchedulerState& state_;
  Clock& clock_;
};

}  // namespace plim::sched
