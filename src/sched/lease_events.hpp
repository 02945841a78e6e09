// Events about the scheduler itself. They refer to its lease, the only object of its own.
#pragma once

#include <string>
#include <string_view>

#include "sched/event_writer.hpp"
#include "sched/scheduler_state.hpp"

namespace plim::sched {

// Belongs to one loop.
class LeaseEvents {
 public:
  LeaseEvents(EventWriter& events, const SchedulerState& state) : events_(events), state_(state) {}

  // This process became leader or stopped leading. `uid` is the lease's.
  void leader_changed(std::string uid, std::string_view message);

  // A warning for the operator.
  void warn(std::string reason, std::string note);

 private:
  kube::ObjectReference lease(std::string uid) const;

  EventWriter& events_;
  const SchedulerState& state_;
};

}  // namespace plim::sched
