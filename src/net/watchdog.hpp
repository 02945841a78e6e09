// Deadlines of many connections with one timer; for .cpp files of this folder only.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "base/clock_timer.hpp"
#include "base/task.hpp"

namespace plim::net {

// Connections move their deadlines several times per request. A timer for each would cost a system
// call and a heap operation every time, so moving a deadline here is only an assignment: one timer
// wakes at the earliest time that was known when it was set, checks all alarms and sleeps again.
// Belongs to one loop, like its alarms, and must outlive them.
class Watchdog : public std::enable_shared_from_this<Watchdog> {
 public:
  class Alarm {
   public:
    // `ring` must not destroy alarms.
    Alarm(std::shared_ptr<Watchdog> watchdog, std::function<void()> ring);
    ~Alarm();
    Alarm(const Alarm&) = delete;
    Alarm& operator=(const Alarm&) = delete;

    void arm_at(SteadyTime when);
    // Zero or a negative value means no limit.
    void arm(std::chrono::milliseconds from_now);

    void disarm() { due_ = SteadyTime::max(); }

   private:
    friend class Watchdog;
    std::shared_ptr<Watchdog> watchdog_;
    std::function<void()> ring_;
    SteadyTime due_ = SteadyTime::max();
    std::size_t place_;  // in alarms_
  };

  Watchdog(Executor loop, Clock& clock) : clock_(clock), timer_(std::move(loop), clock) {}

  Clock& clock() const { return clock_; }

  SteadyTime now() const { return clock_.steady(); }

 private:
  void wake_by(SteadyTime when);
  void sweep();

  Clock& clock_;
  ClockTimer timer_;
  SteadyTime wakes_at_ = SteadyTime::max();
  std::vector<Alarm*> alarms_;
};

using Alarm = Watchdog::Alarm;

}  // namespace plim::net
