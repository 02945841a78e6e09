// Reports about pods: events, and the condition that says why a pod waits.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "kube/store.hpp"
#include "sched/event_writer.hpp"
#include "sched/vocabulary.hpp"

namespace plim::sched {

// The event about a pod that is bound. There is one for each pod.
SchedulerEvent scheduled_event(const kube::Pod& pod, const std::string& profile,
                               std::string_view node);

// Belongs to one loop; co_await stop() before destroying it. `profile` is the scheduler's name.
class PodReports {
 public:
  // The new status.nominatedNodeName of the pod. None: leave it as it is; "": remove it.
  using Nomination = std::optional<std::string>;

  // `pods` are the watched pods, to see whether a condition is the same already.
  PodReports(const Executor& loop, std::shared_ptr<kube::Client> client, EventWriter& events,
             const kube::Store<kube::Pod>& pods, Clock& clock);
  Task<void> stop();

  // Each returns immediately.
  void placed(const kube::Pod& pod, const std::string& profile, std::string_view node);
  void skipped(const kube::Pod& pod, const std::string& profile);  // it is being deleted
  void failed(const PodPointer& pod, const std::string& profile, std::string reason,
              std::string message, Nomination nomination = std::nullopt);
  void preempted(const kube::Pod& victim, const kube::Pod& by, const std::string& profile,
                 std::string_view node);

  // Retried while that may help.
  Task<Result<void>> patch_status(PodPointer pod, json::object status);

 private:
  // Why a pod waits, to be written to its status.
  struct Reason {
    PodPointer pod;
    std::string reason, message;
    Nomination nomination;
  };

  // The scheduler may try a pod again while its condition still waits to be written. The newest
  // condition replaces the waiting one, so that a pod never has more than two.
  struct Writing {
    std::string reason, message;  // being written, or the first in the queue
    std::optional<Reason> next;
  };

  void warn(const kube::Pod& pod, const std::string& profile, std::string note);
  void begin_writing();
  Task<void> write_conditions();
  Task<void> write_condition(PodPointer pod, std::string reason, std::string message,
                             Nomination nomination);

  std::shared_ptr<kube::Client> client_;
  EventWriter& events_;
  const kube::Store<kube::Pod>& pods_;
  Clock& clock_;
  std::unordered_map<std::string, Writing> writing_;  // by uid
  std::deque<std::string> in_line_;                   // uids of pods whose writing has not begun
  std::size_t writers_ = 0;
  TaskGroup tasks_;
};

}  // namespace plim::sched
