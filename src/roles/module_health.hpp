// How one module of several in a process fares: when it is started again, and who is told.
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
  // How often a module that had failed is to be asked whether it works again.
  static constexpr std::chrono::milliseconds kLook{500};

  explicit ModuleHealth(std::string_view name, Clock& clock = system_clock(),
                        Random& random = system_random(),
                        metrics::Registry& registry = metrics::default_registry());

  void started();  // counted after a failure
  void works();    // it is ready
  void is_off();   // it must not run here
  // It ended. When it is to be started again: soon at first, and each time later unless it ran for
  // a while.
  SteadyTime failed(const Failure& failure);

  // From a failure until it is ready again.
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
