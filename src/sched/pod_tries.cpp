#include "sched/pod_tries.hpp"

#include <chrono>
#include <utility>

#include "base/log.hpp"

namespace plim::sched {
namespace {

// False: the API server has certainly rejected the binding.
bool may_have_bound(Code code) {
  return is_retryable(code) || code == Code::unknown || code == Code::internal;
}

}  // namespace

PodTries::PodTries(const Executor& loop, std::shared_ptr<kube::Client> client, EventWriter& events,
                   const TryContext& context, Decider& decider, Options options)
    : options_(std::move(options)),
      state_(context.state),
      pods_(context.feed.pods()),
      extenders_(context.extenders),
      metrics_(context.metrics),
      klog_(context.klog),
      clock_(context.clock),
      decider_(decider),
      reports_(loop, client, events, pods_, clock_),
      evictor_(
          loop, client, reports_, state_,
          [this](bool all, Nanos took) { metrics_.evicted(all, took); }, clock_),
      volumes_(loop, client, state_, pods_, clock_),
      binder_(loop, std::move(client)) {}

Task<void> PodTries::stop() {
  co_await volumes_.stop();
  co_await binder_.stop();
  co_await evictor_.stop();
  co_await reports_.stop();
}

std::optional<PodTry> PodTries::begin(const SchedulingQueue::Attempt& attempt) {
  const kube::Pod& pod = *attempt.pod;
  PodTry out{.attempt = attempt,
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

bool PodTries::is_still_ours(const PodTry& current) {
  const kube::ObjectMeta& meta = current.pod().meta;
  const PodPointer now = pods_.find(kube::object_key(meta));
  const bool leading = options_.leads();
  if (leading && now && now->meta.uid == meta.uid && now->spec.node_name.empty() &&
      !now->meta.deleted)
    return true;
  state_.queue().done(meta.uid);
  if (leading && now && now->meta.uid == meta.uid && now->meta.deleted)
    reports_.skipped(*now, current.scheduler());
  return false;
}

void PodTries::conclude(const PodTry& current, const Decision& decision) {
  std::optional<PostFilterOutcome> outcome;
  if (decision.outcome == Decision::Outcome::unschedulable)
    outcome = decider_.look_for_victims(current, decision);
  decider_.report(current, decision, outcome ? &*outcome : nullptr);
  switch (decision.outcome) {
    case Decision::Outcome::chosen:
    case Decision::Outcome::single_feasible:
      return place(current, decision);
    case Decision::Outcome::unschedulable:
      return refuse(current, decision, *outcome);
    case Decision::Outcome::error:
      return fail(current, decision.message);
  }
}

void PodTries::fail(const PodTry& current, const std::string& message) {
  const kube::ObjectMeta& meta = current.pod().meta;
  log::error("scheduler", "cannot decide", {{"pod", kube::object_key(meta)}, {"error", message}});
  const SteadyTime now = clock_.steady();
  metrics_.attempt(AttemptResult::error, current.scheduler(), now - current.started);
  state_.queue().fail(meta.uid, now);
  report_error(current, current.attempt.pod, message);
}

// Forgets the nominated node, which may be the cause of the error.
void PodTries::report_error(const PodTry& current, const PodPointer& pod, std::string message) {
  state_.engine().forget_nomination(pod->meta.uid);
  reports_.failed(pod, current.scheduler(), "SchedulerError", std::move(message), "");
}

void PodTries::refuse(const PodTry& current, const Decision& decision,
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
    evict_for(current, best);
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

void PodTries::evict_for(const PodTry& current, const PreemptionCandidate& best) {
  metrics_.preempted(best.victims.size());
  std::vector<PodPointer> yielding = state_.make_room(current.attempt.pod, best.node, best.victims);
  evictor_.evict({.preemptor = current.attempt.pod,
                  .profile = current.scheduler(),
                  .node = best.node,
                  .victims = best.victims,
                  .yielding = std::move(yielding)});
}

void PodTries::place(const PodTry& current, const Decision& decision) {
  placement::VolumePlan plan = volumes_.plan(current.pod(), *current.profile, decision.node);
  state_.assume(current.attempt.pod, decision.node);
  if (klog_.enabled(3))
    klog_.info("Attempting to bind pod to node",
               {{"pod", kube::object_key(current.pod().meta)}, {"node", decision.node}});
  Binding binding{.pod = current.attempt.pod,
                  .node = decision.node,
                  .annotations = {},
                  .extenders = extenders_.list()};
  if (options_.annotate_decisions) binding.annotations = annotations_of(decision);
  metrics_.pulls(decision.image_bytes, decision.missing_bytes);
  Placed placed{decision.node, decision.looked_at, decision.feasible};
  if (plan.empty()) return bind(current, std::move(binding), placed);
  VolumeBinder::Work work{
      .pod = current.attempt.pod,
      .node = decision.node,
      .plan = std::move(plan),
      .timeout = std::chrono::seconds(current.profile->volumes.bind_timeout_seconds)};
  volumes_.bind(std::move(work),
                [this, current, binding = std::move(binding), placed = std::move(placed),
                 began = clock_.steady()](const Result<void>& ready) {
                  metrics_.plugins().ran(current.scheduler(), placement::Point::PreBind,
                                         ready.has_value(), clock_.steady() - began);
                  if (ready)
                    bind(current, binding, placed);
                  else
                    bind_failed(current, placed, ready.error());
                });
}

void PodTries::bind(const PodTry& current, Binding binding, const Placed& placed) {
  binder_.bind(std::move(binding),
               [this, current, placed, began = clock_.steady()](const Result<void>& answer) {
                 options_.on_answer();
                 metrics_.plugins().ran(current.scheduler(), placement::Point::Bind,
                                        answer.has_value(), clock_.steady() - began);
                 if (answer)
                   bound(current, placed);
                 else
                   bind_failed(current, placed, answer.error());
               });
}

void PodTries::bound(const PodTry& current, const Placed& placed) {
  const kube::ObjectMeta& meta = current.pod().meta;
  state_.queue().done(meta.uid);
  const SteadyTime now = clock_.steady();
  metrics_.attempt(AttemptResult::scheduled, current.scheduler(), now - current.started);
  metrics_.bound(current.attempt, now);
  if (klog_.enabled(2))
    klog_.info("Successfully bound pod to node", {{"pod", kube::object_key(meta)},
                                                  {"node", placed.node},
                                                  {"evaluatedNodes", placed.evaluated},
                                                  {"feasibleNodes", placed.feasible}});
  reports_.placed(current.pod(), current.scheduler(), placed.node);
  if (options_.missing != nullptr) options_.missing->bound(meta.uid);
}

void PodTries::bind_failed(const PodTry& current, const Placed& placed, const Error& error) {
  const kube::ObjectMeta& meta = current.pod().meta;
  const PodPointer now = pods_.find(kube::object_key(meta));
  const bool gone = !now || now->meta.uid != meta.uid;
  // Either the answer was lost or another scheduler was faster: the watch shows where the pod is.
  if (gone || !now->spec.node_name.empty()) {
    if (!gone && now->spec.node_name == placed.node)
      reports_.placed(current.pod(), current.scheduler(), placed.node);
    return state_.queue().done(meta.uid);
  }
  if (options_.missing != nullptr && may_have_bound(error.code))
    options_.missing->in_doubt(now, current.scheduler(), placed.node);
  state_.forget(now);
  log::warn("scheduler", "cannot bind a pod", {{"pod", kube::object_key(meta)}, {"error", error}});
  metrics_.attempt(AttemptResult::error, current.scheduler(), clock_.steady() - current.started);
  state_.queue().fail(meta.uid, clock_.steady());
  if (error.code == Code::not_found) return;
  report_error(current, now, error.message);
}

}  // namespace plim::sched
