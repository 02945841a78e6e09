#include "sched/explain.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plim::sched {
namespace {

void describe_refusals(const Engine& engine, const kube::Pod& pod, std::size_t samples,
                       ExplainRecord& out) {
  for (placement::Rejection& one : out.decision.rejections) {
    ExplainRecord::Rejected& made = out.rejected.emplace_back();
    made.plugin = one.plugin ? name_of(*one.plugin) : "Extender";
    made.code = one.code;
    made.reason = one.reasons.empty() ? "not among the nodes of its answer"
                                      : fmt::format("{}", fmt::join(one.reasons, ", "));
    made.count = one.nodes.size();
    for (std::size_t i = 0; i < std::min(samples, one.nodes.size()); ++i) {
      made.samples.push_back(engine.node_name(one.nodes[i]));
      std::string detail = i < one.details.size() ? std::move(one.details[i]) : "";
      if (detail.empty() && one.plugin)
        detail = rejection_detail(engine, pod, *one.plugin, one.nodes[i]);
      made.details.push_back(std::move(detail));
    }
    one.nodes.clear();
    one.details.clear();
  }
  out.decision.feasible_nodes.clear();
}

}  // namespace

ExplainRecord describe_decision(const Engine& engine, const kube::Pod& pod, const Profile& profile,
                                Decision decision, std::size_t samples) {
  ExplainRecord out;
  out.ns = pod.meta.ns.view();
  out.name = pod.meta.name;
  out.uid = pod.meta.uid;
  out.profile = profile.scheduler_name;
  out.plugins = profile.score;
  out.mode = profile.locality.mode;
  out.decision = std::move(decision);
  if (out.decision.node.empty()) out.message = out.decision.message;
  explain_locality(engine, pod, profile, out);
  describe_refusals(engine, pod, samples, out);
  return out;
}

void describe_post_filter(const PostFilterOutcome& outcome, ExplainRecord& out) {
  out.message = outcome.message;
  ExplainRecord::PostFilter& made = out.post_filter.emplace();
  made.message = outcome.reasons;
  if (!outcome.preemption || !outcome.preemption->best) return;
  const PreemptionCandidate& best = outcome.preemption->candidates[*outcome.preemption->best];
  made.nominated = best.node;
  for (const PodPointer& victim : best.victims)
    made.victims.push_back(fmt::format("{}/{}", victim->meta.ns.view(), victim->meta.name));
}

ExplainRecord explain_now(Engine& engine, const PodPointer& pod, Profile profile, Clock& clock,
                          std::span<const placement::DisruptionBudget> budgets) {
  const std::string node(pod->spec.node_name.view());
  kube::Pod without = *pod;
  without.spec.node_name = {};
  without.status.nominated_node = {};
  profile.percentage_of_nodes = 100;
  ExplainOptions options{.budgets = budgets};
  options.rows = options.samples = DecideOptions::kAllRows;
  if (!node.empty()) engine.remove_pod(placement::pod_key(*pod));
  ExplainRecord out = explain(engine, without, profile, clock, options);
  if (!node.empty()) engine.set_pod(pod);
  out.is_recomputed = true;
  out.notes.insert(out.notes.begin(),
                   "computed from the cluster as of now: the scheduler did not keep all nodes of "
                   "its decision");
  if (node.empty() || node == out.decision.node) return out;
  if (std::ranges::find(out.decision.rows, node, &ScoredNode::node) == out.decision.rows.end()) {
    out.notes.push_back(fmt::format("the pod is on {}, which is not feasible now", node));
    return out;
  }
  out.decision.node = node;
  out.decision.tie_size = 0;
  out.decision.tie_rule = placement::TieRule::none;
  return out;
}

ExplainRecord explain(Engine& engine, const kube::Pod& pod, const Profile& profile, Clock& clock,
                      const ExplainOptions& options) {
  DecideOptions decide;
  decide.rows = options.rows;
  decide.named = options.samples;
  decide.draw = options.draw;
  decide.now = clock.wall();
  const SteadyTime begun = clock.steady();
  const Decision decision = engine.decide(pod, profile, decide);
  const Nanos took = clock.steady() - begun;
  ExplainRecord out = describe_decision(engine, pod, profile, decision, options.samples);
  out.started = decide.now;
  out.took = took;
  out.version = options.version;
  if (!decision.node.empty()) return out;
  const placement::PreemptionOptions preemption{.draw = options.draw, .now = decide.now};
  describe_post_filter(post_filter(engine, pod, profile, decision, options.budgets, preemption),
                       out);
  return out;
}

}  // namespace plim::sched
