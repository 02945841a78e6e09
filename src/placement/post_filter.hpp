// What happens after a pod has fitted nowhere, and what is then said of it.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/result.hpp"
#include "placement/engine.hpp"
#include "placement/preempt.hpp"
#include "placement/profile.hpp"

namespace plim::placement {

struct PostFilterOutcome {
  std::string others;   // reasons of the plugins that come before preemption
  std::string reasons;  // of the plugins that could not help, "" when one could
  std::string message;  // of FailedScheduling, whole
  std::optional<Preemption> preemption;
};

// After decide() said that the pod fits nowhere, and before anything changes.
PostFilterOutcome post_filter(Engine& engine, const kube::Pod& pod, const Profile& profile,
                              const Decision& decision, std::span<const DisruptionBudget> budgets,
                              const PreemptionOptions& options);

// The extenders have left of the candidates only these, or have failed.
void limit_preemption(PostFilterOutcome& outcome, const Decision& decision,
                      Result<std::vector<PreemptionCandidate>> left, WallTime now);

}  // namespace plim::placement
