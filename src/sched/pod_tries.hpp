// Begins and ends tries to place pods: binds the pod, evicts others for it, or reports why it has
// to wait.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "sched/binder.hpp"
#include "sched/decider.hpp"
#include "sched/event_writer.hpp"
#include "sched/evictor.hpp"
#include "sched/missing_events.hpp"
#include "sched/pod_reports.hpp"
#include "sched/pod_try.hpp"
#include "sched/volume_binder.hpp"

namespace plim::sched {

// Belongs to one loop; co_await stop() before destroying it.
class PodTries {
 public:
  struct Options {
    bool annotate_decisions = false;
    std::function<bool()> leads;       // whether this scheduler is the leader now
    std::function<void()> on_answer;   // the API server has answered one binding
    MissingEvents* missing = nullptr;  // hears which pods are bound, and which may be
  };

  PodTries(const Executor& loop, std::shared_ptr<kube::Client> client, EventWriter& events,
           const TryContext& context, Decider& decider, Options options);
  Task<void> stop();

  // None: the pod must not be placed. The caller still has to tell the queue that it is done.
  std::optional<PodTry> begin(const SchedulingQueue::Attempt& attempt);

  // False ends the try: the pod is gone, has a node, or another scheduler leads.
  bool is_still_ours(const PodTry& current);

  // Each of these ends the try; conclude() calls one of the others.
  void conclude(const PodTry& current, const Decision& decision);
  void refuse(const PodTry& current, const Decision& decision, const PostFilterOutcome& outcome);
  void fail(const PodTry& current, const std::string& message);

  // A storage object has changed, so that volumes may be bound now.
  void storage_changed() { volumes_.storage_changed(); }

  // Bindings without an answer yet.
  std::size_t binding() const { return binder_.under_way(); }

 private:
  // What is reported about a decision once the pod is bound.
  struct Placed {
    std::string node;
    std::size_t evaluated = 0, feasible = 0;
  };

  void report_error(const PodTry& current, const PodPointer& pod, std::string message);
  void evict_for(const PodTry& current, const PreemptionCandidate& best);
  void place(const PodTry& current, const Decision& decision);
  void bind(const PodTry& current, Binding binding, const Placed& placed);
  void bound(const PodTry& current, const Placed& placed);
  void bind_failed(const PodTry& current, const Placed& placed, const Error& error);

  Options options_;
  SchedulerState& state_;
  const kube::Store<kube::Pod>& pods_;
  const ExtenderSet& extenders_;
  SchedulerMetrics& metrics_;
  Klog& klog_;
  Clock& clock_;
  Decider& decider_;
  PodReports reports_;
  Evictor evictor_;
  VolumeBinder volumes_;
  Binder binder_;
};

}  // namespace plim::sched
