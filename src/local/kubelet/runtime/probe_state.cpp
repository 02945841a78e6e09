#include "local/kubelet/runtime/probe_state.hpp"

#include <string_view>

#include "kube/paths.hpp"

namespace plim::local::kubelet {

ProbeSettings probe_settings(const json::value& probe) {
  ProbeSettings out;
  const auto number = [&](kube::IntPath path, std::int64_t fallback) {
    const std::int64_t given = kube::int_at(probe, path).value_or(0);
    return given > 0 ? given : fallback;
  };
  out.initial_delay = std::chrono::seconds(number("Probe.initialDelaySeconds", 0));
  out.period = std::chrono::seconds(number("Probe.periodSeconds", 10));
  out.timeout = std::chrono::seconds(number("Probe.timeoutSeconds", 1));
  out.success_threshold = static_cast<int>(number("Probe.successThreshold", 1));
  out.failure_threshold = static_cast<int>(number("Probe.failureThreshold", 3));
  if (const auto grace = kube::int_at(probe, "Probe.terminationGracePeriodSeconds"))
    out.termination_grace = std::chrono::seconds(*grace);
  return out;
}

}  // namespace plim::local::kubelet
