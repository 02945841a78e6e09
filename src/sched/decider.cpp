#include "sched/decider.hpp"

#include "placement/decision_times.hpp"

namespace plim::sched {
namespace {

constexpr std::size_t kExplainedRows = 20;

}  // namespace

Decider::Decider(const TryContext& context, DeciderOptions options)
    : options_(options),
      state_(context.state),
      feed_(context.feed),
      extenders_(context.extenders),
      metrics_(context.metrics),
      klog_(context.klog),
      clock_(context.clock),
      draws_(options.seed) {}

DecideOptions Decider::options_for(const PodTry& current) {
  DecideOptions out{.draw = draws_.next(), .now = current.wall};
  if (options_.explain_all_nodes) out.named = DecideOptions::kAllRows;
  if (klog_.enabled(10) || options_.explain_all_nodes)
    out.rows = DecideOptions::kAllRows;
  else if (on_decision_ || options_.annotate_decisions)
    out.rows = kExplainedRows;
  out.any_extender = !extenders_.list()->empty();
  return out;
}

Decision Decider::decide(const PodTry& current, DecideOptions options) {
  placement::DecisionTimes times(clock_, metrics_.plugins().draw());
  options.times = &times;
  Decision out = state_.engine().decide(current.pod(), *current.profile, options);
  metrics_.plugins().decided(current.scheduler(), times, out);
  return out;
}

PostFilterOutcome Decider::look_for_victims(const PodTry& current, const Decision& decision) {
  const std::vector<placement::DisruptionBudget> budgets = feed_.budgets();
  const placement::PreemptionOptions options{.draw = draws_.next(), .now = clock_.wall()};
  const SteadyTime began = clock_.steady();
  PostFilterOutcome out =
      post_filter(state_.engine(), current.pod(), *current.profile, decision, budgets, options);
  metrics_.plugins().ran(current.scheduler(), placement::Point::PostFilter,
                         out.preemption && out.preemption->best, clock_.steady() - began);
  if (out.preemption) metrics_.looked_for_victims();
  return out;
}

void Decider::report(const PodTry& current, const Decision& decision,
                     const PostFilterOutcome* outcome) {
  const Nanos took = clock_.steady() - current.started;
  metrics_.decided(took, decision.feasible, decision.tie_rule == placement::TieRule::locality);
  if (klog_.enabled(10)) log_scores(current.pod(), decision);
  if (!on_decision_) return;
  on_decision_({.pod = current.attempt.pod,
                .profile = current.profile,
                .decision = &decision,
                .post_filter = outcome,
                .engine = &state_.engine(),
                .attempt = current.attempt.attempts,
                .started = current.wall,
                .took = took});
}

void Decider::log_scores(const kube::Pod& pod, const Decision& decision) {
  const std::string key = kube::object_key(pod.meta);
  for (const ScoredNode& row : decision.rows) {
    for (const PluginScore& score : row.scores)
      klog_.append("Plugin scored node for pod", {{"pod", key},
                                                  {"plugin", name_of(score.plugin)},
                                                  {"node", row.node},
                                                  {"score", score.weighted}});
    for (const ExtenderPoints& points : row.extenders)
      klog_.append(
          "Extender scored node for pod",
          {{"pod", key}, {"extender", points.extender}, {"node", row.node}, {"score", points.raw}});
  }
  for (const ScoredNode& row : decision.rows)
    klog_.append("Calculated node's final score for pod",
                 {{"pod", key}, {"node", row.node}, {"score", row.total}});
  klog_.flush();
}

}  // namespace plim::sched
