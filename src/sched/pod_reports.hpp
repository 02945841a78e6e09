// What people and programs are told of a pod: events, and the condition that says why it waits.
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

// Belongs to one loop; co_await stop() before destroying it. `profile` is the scheduler's name.
class PodReports {
 public:
  // Of the pod's status.nominatedNodeName. None: leave it as it is; "": take it away.
  using Nomination = std::optional<std::string>;

  // `pods`: as they are watched, to tell whether a condition says the same already.
  PodReports(const Executor& loop, std::shared_ptr<kube::Client> client, EventWriter& events,
             const kube::Store<kube::Pod>& pods, Clock& clock);
  Task<void> stop();

  // Each returns at once.
  void placed(const kube::Pod& pod, const std::string& profile, std::string_view node);
  void skipped(const kube::Pod& pod, const std::string& profile);  // it is being deleted
  void failed(const PodPointer& pod, const std::string& profile, std::string reason,
              std::string message, Nomination nomination = std::nullopt);
  void preempted(const kube::Pod& victim, const kube::Pod& by, const std::string& profile,
                 std::string_view node);

  // Tried again while that may help.
  Task<Result<void>> patch_status(PodPointer pod, json::object status);

 private:
  // Why a pod waits, as it is to stand in its status.
  struct Reason {
    PodPointer pod;
    std::string reason, message;
    Nomination nomination;
  };

  // A pod is tried again and again while its first condition waits for its turn at the API: what
  // comes meanwhile replaces what has come before, so that no pod has more than two.
  struct Writing {
    std::string reason, message;  // on the way, or first in line
    std::optional<Reason> next;
  };

  SchedulerEvent event_about(const kube::Pod& pod, const std::string& profile) const;
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
  std::deque<std::string> in_line_;                   // uids of those not begun yet
  std::size_t writers_ = 0;
  TaskGroup tasks_;
};

}  // namespace plim::sched
