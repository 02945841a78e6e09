// Deletes the victims of preemption. The queue tries the preemptor again when they are gone.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "sched/pod_reports.hpp"
#include "sched/scheduler_state.hpp"
#include "sched/vocabulary.hpp"

namespace plim::sched {

struct Eviction {
  PodPointer preemptor;
  std::string profile;  // the scheduler's name
  std::string node;
  std::vector<PodPointer> victims;
  std::vector<PodPointer> yielding;  // whose nominations are cleared
};

// Belongs to one loop; co_await stop() before destroying it.
class Evictor {
 public:
  // Whether all victims of one pod could be removed, and how long it took.
  using OnDone = std::function<void(bool all, Nanos took)>;

  // Informs the state about victims if no watch event does.
  Evictor(const Executor& loop, std::shared_ptr<kube::Client> client, PodReports& reports,
          SchedulerState& state, OnDone on_done, Clock& clock);
  Task<void> stop();

  // Returns immediately.
  void evict(Eviction eviction);

 private:
  struct Progress {
    std::size_t left = 0;  // victims not deleted yet
    bool all = true;
    SteadyTime began{};
  };

  Task<void> remove_victim(std::shared_ptr<const Eviction> of, PodPointer victim,
                           std::shared_ptr<Progress> progress);
  Task<Result<void>> mark(PodPointer victim, std::string profile);
  Task<Result<void>> remove(PodPointer victim);
  Task<void> take_nomination(PodPointer pod);

  std::shared_ptr<kube::Client> client_;
  PodReports& reports_;
  SchedulerState& state_;
  OnDone on_done_;
  Clock& clock_;
  TaskGroup tasks_;
};

}  // namespace plim::sched
