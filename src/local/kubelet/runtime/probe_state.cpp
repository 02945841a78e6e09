#include "local/kubelet/runtime/probe_state.hpp"

#include <string_view>

namespace plim::local::kubelet {

ProbeSettings probe_settings(const json::value& probe) {
  ProbeSettings out;
  const auto number = [&](std::string_view key, std::int64_t fallback) {
    const std::int64_t given = int_at(probe, {key}).value_or(0);
    return given > 0 ? given : fallback;
  };
  out.initial_delay = std::chrono::seconds(number("initialDelaySeconds", 0));
  out.period = std::chrono::seconds(number("periodSeconds", 10));
  out.timeout = std::chrono::seconds(number("timeoutSeconds", 1));
  out.success_threshold = static_cast<int>(number("successThreshold", 1));
  out.failure_threshold = static_cast<int>(number("failureThreshold", 3));
  if (const auto grace = int_at(probe, {"terminationGracePeriodSeconds"}))
    out.termination_grace = std::chrono::seconds(*grace);
  return out;
}

}  // namespace plim::local::kubelet
