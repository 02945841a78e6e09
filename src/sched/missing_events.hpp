// Writes the Scheduled events that are missing: those of a scheduler that was killed before it
// wrote them, and those of bindings whose answer was lost.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "kube/store.hpp"
#include "sched/event_writer.hpp"
#include "sched/scheduler_state.hpp"
#include "sched/vocabulary.hpp"

namespace plim::sched {

// The events have the names that every scheduler of ours gives them. So a pod gets only one, even
// if two processes write it. Belongs to one loop; co_await stop() before destroying it.
class MissingEvents {
 public:
  // `pods` are the watched pods.
  MissingEvents(const Executor& loop, std::shared_ptr<kube::Client> client, EventWriter& events,
                const kube::Store<kube::Pod>& pods, const SchedulerState& state, Clock& clock);
  Task<void> stop();

  // Call it when this scheduler leads and its caches are filled. Looks for pods that another
  // process bound within the last minute, and again a little later: the API server may still handle
  // a binding of a process that is gone.
  void begin();

  // This process bound the pod and recorded its event.
  void bound(const std::string& uid);

  // The binding failed, but the API server may have carried it out. The event is written if the
  // watch shows the pod on that node within a minute.
  void in_doubt(const PodPointer& pod, std::string profile, std::string node);

 private:
  struct Doubt {
    std::string key, profile, node;
    SteadyTime until{};
  };

  Task<void> look_twice();
  Task<void> look();
  Task<Result<std::unordered_set<std::string>>> pods_with_event();
  std::vector<PodPointer> bound_by_others() const;
  Task<void> settle_doubts();
  bool is_settled(const std::string& uid, const Doubt& doubt);

  std::shared_ptr<kube::Client> client_;
  EventWriter& events_;
  const kube::Store<kube::Pod>& pods_;
  const SchedulerState& state_;
  Clock& clock_;
  bool looking_ = false;
  std::unordered_set<std::string> done_;           // pods with an event while it looks; by uid
  std::unordered_map<std::string, Doubt> doubts_;  // by uid
  bool settling_ = false;
  TaskGroup tasks_;
};

}  // namespace plim::sched
