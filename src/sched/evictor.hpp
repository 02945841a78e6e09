// Removes pods whose place another one takes. The other comes again by itself, when they have gone.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "sched/cluster.hpp"
#include "sched/pod_reports.hpp"

namespace plim::sched {

struct Eviction {
  PodPointer preemptor;
  std::string profile;  // the scheduler's name
  std::string node;
  std::vector<PodPointer> victims;
};

// Belongs to one loop; co_await stop() before destroying it.
class Evictor {
 public:
  Evictor(const Executor& loop, std::shared_ptr<kube::Client> client, PodReports& reports,
          Clock& clock);
  Task<void> stop();

  // Returns at once.
  void evict(Eviction eviction);

 private:
  Task<void> remove_victims(Eviction eviction);
  Task<bool> remove_victim(PodPointer victim, std::string profile);

  std::shared_ptr<kube::Client> client_;
  PodReports& reports_;
  Clock& clock_;
  TaskGroup tasks_;
};

}  // namespace plim::sched
