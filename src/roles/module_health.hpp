// Health of one module in a process with several: when to restart it, and what to log and count.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "base/metrics.hpp"
#include "base/random.hpp"
#include "roles/errors.hpp"

namespace plim::roles {

// Belongs to one loop.
class ModuleHealth {
 public:
  // How often to check whether a failed module is ready again.
  static constexpr std::chrono::milliseconds kLook{500};

  explicit ModuleHealth(std::string_view name, Clock& clock = system_clock(),
                        Random& random = system_random(),
                        metrics::Registry& registry = metrics::default_registry());

  void started();  // counts a restart if it follows a failure
  void works();    // the module is ready
  void is_off();   // the module must not run here
  // The module ended. Returns the time of the next start; the delay grows until a run lasts for a
  // while.
  SteadyTime failed(const Failure& failure);

  // True from a failure until the module is ready again.
  bool failing() const { return !problem_.empty(); }

  const std::string& problem() const { return problem_; }

 private:
  std::string name_;
  Clock& clock_;
  metrics::Gauge& up_;
  metrics::Counter& restarts_;
  Backoff backoff_;
  SteadyTime started_ = {};
  std::string problem_;
};

}  // namespace plim::roles
