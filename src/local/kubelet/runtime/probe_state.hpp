// Computes the state of a container from a series of probe results. Pure.
#pragma once

#include <chrono>
#include <optional>

#include "base/clock.hpp"
#include "base/json.hpp"

namespace plim::local::kubelet {

enum class ProbeKind { startup, readiness, liveness };

struct ProbeSettings {
  std::chrono::seconds initial_delay{0}, period{10}, timeout{1};
  int success_threshold = 1, failure_threshold = 3;
  std::optional<std::chrono::seconds> termination_grace = {};
};

// Has Kubernetes' defaults for missing fields.
ProbeSettings probe_settings(const json::value& probe);

// Counts the results of one probe during one run. A readiness or startup probe begins as failed,
// a liveness probe as passed.
class ProbeState {
 public:
  ProbeState(ProbeKind kind, const ProbeSettings& settings)
      : settings_(settings), passed_(kind == ProbeKind::liveness) {}

  // True if this result changed the verdict. Failure is also reported each time the threshold is
  // reached again, because a liveness probe may have to kill twice.
  bool record(bool success) {
    count_ = success == last_ ? count_ + 1 : 1;
    last_ = success;
    const int threshold = success ? settings_.success_threshold : settings_.failure_threshold;
    if (count_ < threshold) return false;
    const bool news = passed_ != success || (!success && !decided_);
    passed_ = success;
    decided_ = true;
    return news;
  }

  bool passed() const { return passed_; }

 private:
  ProbeSettings settings_;
  bool passed_;
  bool decided_ = false;  // a threshold was reached
  bool last_ = false;
  int count_ = 0;
};

}  // namespace plim::local::kubelet
