#include <fmt/format.h>

#include "base/log.hpp"
#include "placement/decision_times.hpp"
#include "sched/daemon.hpp"

namespace plim::sched {
namespace {

constexpr std::size_t kExplainedRows = 20;

}  // namespace

// None: it is not to be placed.
std::optional<Daemon::Try> Daemon::begin(const Attempt& attempt) {
  const kube::Pod& pod = *attempt.pod;
  Try out{.attempt = attempt,
          .config = state_.config(),
          .profile = state_.config()->profile_named(pod.spec.scheduler_name),
          .started = clock_.steady(),
          .wall = clock_.wall()};
  if (out.profile == nullptr) return std::nullopt;
  if (pod.meta.deleted) {
    reports_.skipped(pod, out.scheduler());
    return std::nullopt;
  }
  if (klog_.enabled(3))
    klog_.info("Attempting to schedule pod", {{"pod", kube::object_key(pod.meta)}});
  return out;
}

DecideOptions Daemon::decide_options(const Try& current) {
  DecideOptions out{.draw = draws_.next(), .now = current.wall};
  if (options_.explain_all_nodes) out.named = DecideOptions::kAllRows;
  if (klog_.enabled(10) || options_.explain_all_nodes)
    out.rows = DecideOptions::kAllRows;
  else if (on_decision_ || options_.annotate_decisions)
    out.rows = kExplainedRows;
  out.any_extender = !extenders_->empty();
  return out;
}

Decision Daemon::decide(const Try& current, DecideOptions options) {
  placement::DecisionTimes times(clock_, metrics_.plugins().draw());
  options.times = &times;
  Decision out = state_.engine().decide(current.pod(), *current.profile, options);
  metrics_.plugins().decided(current.scheduler(), times, out);
  return out;
}

// Before anything changes, for the decision's indexes are the engine's.
void Daemon::note(const Try& current, const Decision& decision, const PostFilterOutcome* outcome) {
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

void Daemon::conclude(const Try& current, const Decision& decision) {
  std::optional<PostFilterOutcome> outcome;
  if (decision.outcome == Decision::Outcome::unschedulable)
    outcome = look_for_victims(current, decision);
  note(current, decision, outcome ? &*outcome : nullptr);
  switch (decision.outcome) {
    case Decision::Outcome::chosen:
    case Decision::Outcome::single_feasible:
      return place(current, decision);
    case Decision::Outcome::unschedulable:
      return refuse(current, decision, *outcome);
    case Decision::Outcome::error:
      return try_failed(current, decision.message);
  }
}

void Daemon::try_failed(const Try& current, const std::string& message) {
  const kube::ObjectMeta& meta = current.pod().meta;
  log::error("scheduler", "cannot decide", {{"pod", kube::object_key(meta)}, {"error", message}});
  const SteadyTime now = clock_.steady();
  metrics_.attempt(AttemptResult::error, current.scheduler(), now - current.started);
  state_.queue().fail(meta.uid, now);
  report_error(current, current.attempt.pod, message);
}

// A node that it was promised may be why: it looks for one anew.
void Daemon::report_error(const Try& current, const PodPointer& pod, std::string message) {
  state_.engine().forget_nomination(pod->meta.uid);
  reports_.failed(pod, current.scheduler(), "SchedulerError", std::move(message), "");
}

PostFilterOutcome Daemon::look_for_victims(const Try& current, const Decision& decision) {
  const std::vector<placement::DisruptionBudget> budgets = inputs_.budgets();
  const placement::PreemptionOptions options{.draw = draws_.next(), .now = clock_.wall()};
  const SteadyTime began = clock_.steady();
  PostFilterOutcome out =
      post_filter(state_.engine(), current.pod(), *current.profile, decision, budgets, options);
  metrics_.plugins().ran(current.scheduler(), placement::Point::PostFilter,
                         out.preemption && out.preemption->best, clock_.steady() - began);
  if (out.preemption) metrics_.looked_for_victims();
  return out;
}

void Daemon::refuse(const Try& current, const Decision& decision,
                    const PostFilterOutcome& outcome) {
  const kube::Pod& pod = current.pod();
  if (klog_.enabled(2))
    klog_.info("Unable to schedule pod; no fit; waiting",
               {{"pod", kube::object_key(pod.meta)}, {"err", outcome.message}});
  const SteadyTime now = clock_.steady();
  metrics_.attempt(AttemptResult::unschedulable, current.scheduler(), now - current.started);
  PodReports::Nomination nomination;
  if (outcome.preemption && outcome.preemption->best) {
    const PreemptionCandidate& best = outcome.preemption->candidates[*outcome.preemption->best];
    nomination = best.node;
    metrics_.preempted(best.victims.size());
    std::vector<PodPointer> yielding =
        state_.make_room(current.attempt.pod, best.node, best.victims);
    evictor_.evict({.preemptor = current.attempt.pod,
                    .profile = current.scheduler(),
                    .node = best.node,
                    .victims = best.victims,
                    .yielding = std::move(yielding)});
  } else if (decision.total_nodes == 0 ||
             (outcome.preemption && outcome.preemption->clear_nomination)) {
    nomination = "";
    state_.engine().forget_nomination(pod.meta.uid);
  }
  state_.queue().reject(pod.meta.uid, decision.rejecting_plugins, decision.rejected_by_extender,
                        now);
  reports_.failed(current.attempt.pod, current.scheduler(), "Unschedulable", outcome.message,
                  std::move(nomination));
}

void Daemon::log_scores(const kube::Pod& pod, const Decision& decision) {
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

void Daemon::place(const Try& current, const Decision& decision) {
  state_.assume(current.attempt.pod, decision.node);
  if (klog_.enabled(3))
    klog_.info("Attempting to bind pod to node",
               {{"pod", kube::object_key(current.pod().meta)}, {"node", decision.node}});
  Binding binding{.pod = current.attempt.pod,
                  .node = decision.node,
                  .annotations = {},
                  .extenders = extenders_};
  if (options_.annotate_decisions) binding.annotations = annotations_of(decision);
  metrics_.pulls(decision.image_bytes, decision.missing_bytes);
  binder_.bind(
      std::move(binding),
      [this, current, placed = Placed{decision.node, decision.looked_at, decision.feasible},
       began = clock_.steady()](const Result<void>& answer) {
        wake_.notify();
        metrics_.plugins().ran(current.scheduler(), placement::Point::Bind, answer.has_value(),
                               clock_.steady() - began);
        if (answer)
          bound(current, placed);
        else
          bind_failed(current, answer.error());
      });
}

void Daemon::bound(const Try& current, const Placed& placed) {
  const kube::ObjectMeta& meta = current.pod().meta;
  state_.queue().done(meta.uid);
  const SteadyTime now = clock_.steady();
  metrics_.attempt(AttemptResult::scheduled, current.scheduler(), now - current.started);
  metrics_.bound(current.attempt.attempts, now - current.attempt.first_ready);
  if (klog_.enabled(2))
    klog_.info("Successfully bound pod to node", {{"pod", kube::object_key(meta)},
                                                  {"node", placed.node},
                                                  {"evaluatedNodes", placed.evaluated},
                                                  {"feasibleNodes", placed.feasible}});
  reports_.placed(current.pod(), current.scheduler(), placed.node);
}

void Daemon::bind_failed(const Try& current, const Error& error) {
  const kube::ObjectMeta& meta = current.pod().meta;
  const PodPointer now = pods_.store().find(kube::object_key(meta));
  const bool gone = !now || now->meta.uid != meta.uid;
  // The answer was lost, or somebody else was faster; the watch knows where it is.
  if (gone || !now->spec.node_name.empty()) return state_.queue().done(meta.uid);
  state_.forget(now);
  log::warn("scheduler", "cannot bind a pod", {{"pod", kube::object_key(meta)}, {"error", error}});
  metrics_.attempt(AttemptResult::error, current.scheduler(), clock_.steady() - current.started);
  state_.queue().fail(meta.uid, clock_.steady());
  if (error.code == Code::not_found) return;
  report_error(current, now, error.message);
}

}  // namespace plim::sched
