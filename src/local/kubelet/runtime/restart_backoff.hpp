// When a container that ended may start again, by the rules of a kubelet.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/clock.hpp"

namespace plim::local::kubelet {

// The first restart comes at once, the next after 10 s, then 20 s and so on up to 300 s. After
// ten minutes between a restart and the next end it starts over. Failed pulls wait in the same way,
// except that even the first retry waits. Pure: the caller passes the times.
class RestartBackoff {
 public:
  static constexpr std::chrono::seconds kFirst{10};
  static constexpr std::chrono::seconds kLimit{300};
  static constexpr std::chrono::minutes kForgotten{10};

  // How long the next start has to wait after an end at `ended`.
  Nanos delay(SteadyTime ended) const { return is_forgotten(ended) ? Nanos(0) : delay_; }

  // The container was started again at `now`, after an end at `ended`.
  void note_restart(SteadyTime ended, SteadyTime now) {
    delay_ = std::min<Nanos>(std::max<Nanos>(delay(ended) * 2, kFirst), kLimit);
    last_restart_ = now;
  }

 private:
  bool is_forgotten(SteadyTime ended) const {
    return last_restart_ && ended - *last_restart_ > kForgotten;
  }

  Nanos delay_{0};
  std::optional<SteadyTime> last_restart_;
};

}  // namespace plim::local::kubelet
