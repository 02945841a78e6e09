// Removes pods whose place another one takes. The other comes again by itself, when they have gone.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "sched/cluster.hpp"
#include "sched/pod_reports.hpp"
#include "sched/scheduler_state.hpp"

namespace plim::sched {

struct Eviction {
  PodPointer preemptor;
  std::string profile;  // the scheduler's name
  std::string node;
  std::vector<PodPointer> victims;
  std::vector<PodPointer> yielding;  // to lose their nominations
};

// Belongs to one loop; co_await stop() before destroying it.
class Evictor {
 public:
  // The state is told what became of the victims as far as no watch tells it.
  Evictor(const Executor& loop, std::shared_ptr<kube::Client> client, PodReports& reports,
          SchedulerState& state, Clock& clock);
  Task<void> stop();

  // Returns at once.
  void evict(Eviction eviction);

 private:
  Task<void> remove_victim(std::shared_ptr<const Eviction> of, PodPointer victim);
  Task<Result<void>> mark(PodPointer victim, std::string profile);
  Task<Result<void>> remove(PodPointer victim);
  Task<void> take_nomination(PodPointer pod);
  Task<Result<void>> patch_status(PodPointer pod, json::object status);

  std::shared_ptr<kube::Client> client_;
  PodReports& reports_;
  SchedulerState& state_;
  Clock& clock_;
  TaskGroup tasks_;
};

}  // namespace plim::sched
