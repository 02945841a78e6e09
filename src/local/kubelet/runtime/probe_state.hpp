// What a row of probe results means for a container. Pure.
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

// With Kubernetes' defaults for what the spec leaves out.
ProbeSettings probe_settings(const json::value& probe);

// Counts results of one probe of one run. A readiness or startup probe begins as failed, a liveness
// probe as passed.
class ProbeState {
 public:
  ProbeState(ProbeKind kind, const ProbeSettings& settings)
      : settings_(settings), passed_(kind == ProbeKind::liveness) {}

  // True when the verdict changed by this result. A verdict of failure is told again each time
  // the threshold is passed anew, because a liveness probe may have to kill twice.
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
  bool decided_ = false;  // some threshold was reached
  bool last_ = false;
  int count_ = 0;
};

}  // namespace plim::local::kubelet
