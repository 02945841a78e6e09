// What happens if a pod fits on no node, and the text of FailedScheduling for it.
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
  Release release = {};
  std::string others;   // reasons of the plugins before preemption
  std::string reasons;  // of the plugins that could not help, "" if one could
  std::string message;  // the whole text of FailedScheduling
  std::optional<Preemption> preemption;
};

// Call it after decide() found no node for the pod and before anything changes.
PostFilterOutcome post_filter(Engine& engine, const kube::Pod& pod, const Profile& profile,
                              const Decision& decision, std::span<const DisruptionBudget> budgets,
                              const PreemptionOptions& options);

// Applies the answers of extenders: they kept only these candidates, or they failed.
void limit_preemption(PostFilterOutcome& outcome, const Decision& decision,
                      Result<std::vector<PreemptionCandidate>> left, WallTime now);

}  // namespace plim::placement
