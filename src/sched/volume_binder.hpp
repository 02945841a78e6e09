// Makes the volumes of a pod ready before the pod is bound: reserves chosen volumes for its claims,
// asks for the volumes that have to be made, and waits until all its claims are bound.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "kube/store.hpp"
#include "sched/scheduler_state.hpp"
#include "sched/vocabulary.hpp"

namespace plim::sched {

// Belongs to one loop; co_await stop() before destroying it.
class VolumeBinder {
 public:
  // Not called if the binder is stopped before. The volumes are no longer reserved then.
  using Done = std::function<void(Result<void>)>;

  struct Work {
    PodPointer pod;
    std::string node;
    placement::VolumePlan plan;
    Nanos timeout{0};
  };

  VolumeBinder(const Executor& loop, std::shared_ptr<kube::Client> client, SchedulerState& state,
               const kube::Store<kube::Pod>& pods, Clock& clock);
  Task<void> stop();

  // What the pod needs on this node before it can be bound; empty for nearly all pods.
  placement::VolumePlan plan(const kube::Pod& pod, const Profile& profile, const std::string& node);

  // Reserves the volumes of the plan at once, so that no other pod gets them, and returns.
  void bind(Work work, Done done);

  // A claim or a volume has changed.
  void storage_changed() {
    if (under_way_ > 0) changed_.notify();
  }

  std::size_t under_way() const { return under_way_; }

 private:
  Task<void> carry_out(Work work, Done done);
  Task<Result<void>> write(std::shared_ptr<Work> work);
  Task<Result<void>> wait(std::shared_ptr<Work> work);
  // False: wait longer.
  Result<bool> are_bound(const Work& work) const;
  Result<bool> is_bound(const Work& work, const placement::VolumePlan::Static& one) const;
  Result<bool> is_bound(const Work& work, const placement::VolumePlan::Provision& one) const;
  Result<void> check_affinity(const Work& work, const placement::VolumeTable::Volume& volume) const;

  std::shared_ptr<kube::Client> client_;
  SchedulerState& state_;
  const kube::Store<kube::Pod>& pods_;
  Clock& clock_;
  Event changed_;
  std::size_t under_way_ = 0;
  TaskGroup tasks_;
};

}  // namespace plim::sched
