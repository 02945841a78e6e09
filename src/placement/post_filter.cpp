#include "placement/post_filter.hpp"

#include <fmt/format.h>

namespace plim::placement {
namespace {

// DynamicResources in kube-scheduler reads the state of its PreFilter step. If another plugin
// ended that step, the state is missing, and DynamicResources fails before preemption runs.
bool loses_its_state(const Decision& decision) {
  return decision.pre_filter_code == RejectCode::unresolvable;
}

void add_reason(std::string& reasons, std::string_view reason) {
  if (reason.empty()) return;
  if (!reasons.empty()) reasons += ", ";
  reasons += reason;
}

// Sets the message after preemption has found a node or not.
void finish(PostFilterOutcome& outcome, const Decision& decision) {
  outcome.message = decision.message;
  if (outcome.preemption && outcome.preemption->best) {
    outcome.reasons.clear();
    const PreemptionCandidate& best = outcome.preemption->candidates[*outcome.preemption->best];
    if (outcome.release.reports_preemption())
      outcome.message += fmt::format(
          " preemption: found a potential placement for pod on node {}, preempting {} victims",
          best.node, best.victims.size());
  }
  if (!outcome.reasons.empty()) outcome.message += " " + outcome.reasons;
}

}  // namespace

PostFilterOutcome post_filter(Engine& engine, const kube::Pod& pod, const Profile& profile,
                              const Decision& decision, std::span<const DisruptionBudget> budgets,
                              const PreemptionOptions& options) {
  PostFilterOutcome out;
  out.release = profile.release;
  out.message = decision.message;
  if (decision.outcome != Decision::Outcome::unschedulable || decision.total_nodes == 0) return out;
  for (PluginId plugin : profile.post_filter) {
    if (plugin == PluginId::DynamicResources) {
      if (loses_its_state(decision)) {
        out.reasons = "not found";
        break;
      }
      if (!profile.release.reports_preemption())
        add_reason(out.reasons, "no new claims to deallocate");
    } else if (plugin == PluginId::DefaultPreemption) {
      out.others = out.reasons;
      out.preemption = engine.preempt(pod, profile, decision, budgets, options);
      if (out.preemption->best) break;
      add_reason(out.reasons, out.preemption->message);
    }
  }
  finish(out, decision);
  return out;
}

void limit_preemption(PostFilterOutcome& outcome, const Decision& decision,
                      Result<std::vector<PreemptionCandidate>> left, WallTime now) {
  Preemption& preemption = *outcome.preemption;
  preemption.candidates = left ? std::move(*left) : std::vector<PreemptionCandidate>{};
  preemption.best = best_candidate(preemption.candidates, now);
  if (preemption.best) return finish(outcome, decision);
  if (left) {
    outcome.reasons = outcome.others;
    add_reason(outcome.reasons, "preemption: no candidate node for preemption");
  } else {
    outcome.reasons = "preemption: " + left.error().message;
  }
  finish(outcome, decision);
}

}  // namespace plim::placement
