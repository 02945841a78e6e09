#include "net/watchdog.hpp"

#include <algorithm>
#include <utility>

namespace plim::net {

Watchdog::Alarm::Alarm(std::shared_ptr<Watchdog> watchdog, std::function<void()> ring)
    : watchdog_(std::move(watchdog)), ring_(std::move(ring)), place_(watchdog_->alarms_.size()) {
  watchdog_->alarms_.push_back(this);
}

Watchdog::Alarm::~Alarm() {
  auto& alarms = watchdog_->alarms_;
  alarms[place_] = alarms.back();
  alarms[place_]->place_ = place_;
  alarms.pop_back();
}

void Watchdog::Alarm::arm_at(SteadyTime when) {
  due_ = when;
  watchdog_->wake_by(when);
}

void Watchdog::Alarm::arm(std::chrono::milliseconds from_now) {
  if (from_now.count() <= 0) return disarm();
  arm_at(watchdog_->now() + from_now);
}

void Watchdog::wake_by(SteadyTime when) {
  if (when >= wakes_at_) return;
  wakes_at_ = when;
  timer_.set(when, [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->sweep();
  });
}

void Watchdog::sweep() {
  const SteadyTime time = now();
  wakes_at_ = SteadyTime::max();
  for (Alarm* alarm : std::vector<Alarm*>(alarms_)) {
    if (alarm->due_ > time) continue;
    alarm->disarm();
    alarm->ring_();
  }
  SteadyTime next = SteadyTime::max();
  for (const Alarm* alarm : alarms_) next = std::min(next, alarm->due_);
  if (next != SteadyTime::max()) wake_by(next);
}

}  // namespace plim::net
