#include "sched/daemon.hpp"

#include <fmt/format.h>

#include "base/log.hpp"

namespace plim::sched {
namespace {

using namespace std::chrono_literals;

// Each has a connection of its own while it is under way.
constexpr std::size_t kMaxBinding = 48;
constexpr std::size_t kExplainedRows = 20;
constexpr Nanos kLongestWait = 1s;

kube::ReflectorOptions running_pods() {
  kube::ReflectorOptions out;
  out.field_selector = "status.phase!=Succeeded,status.phase!=Failed";
  return out;
}

}  // namespace

Daemon::Daemon(const Executor& loop, DaemonOptions options, std::shared_ptr<kube::Client> client,
               std::shared_ptr<kube::Client> event_client, metrics::Registry& registry,
               Clock& clock, Random& random)
    : options_(std::move(options)),
      clock_(clock),
      draws_(random.next()),
      klog_(options_.verbosity, clock),
      metrics_(registry),
      wake_(loop),
      state_(
          options_.config, options_.max_unschedulable,
          [this](std::string_view place, std::string_view event) {
            metrics_.incoming(place, event);
          },
          [this] { wake_.notify(); }, clock),
      pods_(loop, client, kube::resources::pods, kube::pod_codec(pool_), running_pods(), clock),
      nodes_(loop, client, kube::resources::nodes, kube::node_codec(pool_), {}, clock),
      namespaces_(
          loop, client, state_.engine(), pool_, [this] { wake_.notify(); }, clock),
      inputs_(
          loop, client, options_.etcd, state_.engine(), pool_,
          [this](EventKind kind) { state_.happened({.kind = kind}); }, clock),
      events_(loop, std::move(event_client), options_.host, clock),
      reports_(loop, client, events_, pods_.store(), clock),
      evictor_(loop, client, reports_, state_, clock),
      binder_(loop, client),
      tasks_(loop) {
  add_handlers();
}

Daemon::~Daemon() = default;

void Daemon::add_handlers() {
  pods_.add_handlers({.on_add = [this](const auto& pod) { state_.pod_changed(nullptr, pod); },
                      .on_update = [this](const auto& before,
                                          const auto& now) { state_.pod_changed(before, now); },
                      .on_delete = [this](const auto& pod) { state_.pod_gone(pod); },
                      .on_synced = [this] { wake_.notify(); }});
  nodes_.add_handlers({.on_add = [this](const auto& node) { state_.node_changed(nullptr, node); },
                       .on_update = [this](const auto& before,
                                           const auto& now) { state_.node_changed(before, now); },
                       .on_delete = [this](const auto& node) { state_.node_gone(node); },
                       .on_synced = [this] { wake_.notify(); }});
}

void Daemon::start() {
  if (std::exchange(started_, true)) return;
  nodes_.start();
  pods_.start();
  namespaces_.start();
  inputs_.start();
  events_.start();
  tasks_.spawn("scheduling", schedule());
}

Task<void> Daemon::stop() {
  leading_ = false;
  co_await tasks_.stop();
  co_await binder_.stop();
  co_await evictor_.stop();
  co_await reports_.stop();
  co_await pods_.stop();
  co_await nodes_.stop();
  co_await namespaces_.stop();
  co_await inputs_.stop();
  co_await events_.stop(500ms);
}

void Daemon::lead() {
  leading_ = true;
  wake_.notify();
}

void Daemon::stop_leading() {
  leading_ = false;
}

bool Daemon::synced() const {
  return pods_.synced() && nodes_.synced() && namespaces_.synced() && inputs_.synced();
}

void Daemon::set_config(std::shared_ptr<const Configuration> config) {
  state_.set_config(std::move(config), pods_.store());
}

Task<void> Daemon::schedule() {
  while (!synced()) (void)co_await wake_.wait_until(clock_, clock_.steady() + kLongestWait);
  log::info("scheduler", "caches filled",
            {{"nodes", state_.engine().node_count()}, {"pods", pods_.store().size()}});
  for (;;) {
    std::optional<Attempt> attempt;
    if (leading_ && binder_.under_way() < kMaxBinding)
      attempt = state_.queue().pop(clock_.steady());
    if (attempt) {
      schedule_one(*attempt);
      co_await yield_to_loop();  // answers to bindings and the watches come in between
      continue;
    }
    SteadyTime until = clock_.steady() + kLongestWait;
    if (const auto flush = state_.queue().next_flush(); flush && *flush < until) until = *flush;
    (void)co_await wake_.wait_until(clock_, until);
  }
}

void Daemon::update_sizes() {
  metrics_.sizes(state_.queue().counts(), state_.engine().node_count(), state_.engine().pod_count(),
                 state_.assumed(), binder_.under_way());
}

void Daemon::schedule_one(const Attempt& attempt) {
  const kube::Pod& pod = *attempt.pod;
  const std::string& uid = pod.meta.uid;
  const std::shared_ptr<const Configuration> config = state_.config();
  const Profile* profile = config->profile_named(pod.spec.scheduler_name);
  if (profile == nullptr) return state_.queue().done(uid);
  if (pod.meta.deleted) {
    reports_.skipped(pod, profile->scheduler_name);
    return state_.queue().done(uid);
  }
  if (klog_.enabled(3))
    klog_.info("Attempting to schedule pod", {{"pod", kube::object_key(pod.meta)}});
  const SteadyTime started = clock_.steady();
  const WallTime wall = clock_.wall();
  DecideOptions options{.draw = draws_.next(), .now = wall};
  if (options_.explain_all_nodes) options.named = DecideOptions::kAllRows;
  if (klog_.enabled(10) || options_.explain_all_nodes)
    options.rows = DecideOptions::kAllRows;
  else if (on_decision_ || options_.annotate_decisions)
    options.rows = kExplainedRows;
  const Decision decision = state_.engine().decide(pod, *profile, options);
  const Nanos took = clock_.steady() - started;
  metrics_.decided(took, decision.feasible, decision.tie_rule == "locality");
  if (klog_.enabled(10)) log_scores(pod, decision);
  if (on_decision_)
    on_decision_({.pod = attempt.pod,
                  .profile = profile,
                  .decision = &decision,
                  .engine = &state_.engine(),
                  .attempt = attempt.attempts,
                  .started = wall,
                  .took = took});
  const SteadyTime now = clock_.steady();
  switch (decision.outcome) {
    case Decision::Outcome::chosen:
    case Decision::Outcome::single_feasible:
      return place(attempt, *profile, decision, started);
    case Decision::Outcome::unschedulable:
      return refuse(attempt, *profile, decision, started);
    case Decision::Outcome::error:
      log::error("scheduler", "cannot decide",
                 {{"pod", kube::object_key(pod.meta)}, {"error", decision.message}});
      metrics_.attempt(AttemptResult::error, profile->scheduler_name, now - started);
      state_.queue().fail(uid, now);
      return reports_.failed(attempt.pod, profile->scheduler_name, "SchedulerError",
                             decision.message);
  }
}

void Daemon::refuse(const Attempt& attempt, const Profile& profile, const Decision& decision,
                    SteadyTime started) {
  const kube::Pod& pod = *attempt.pod;
  const std::vector<DisruptionBudget> budgets = inputs_.budgets();
  const PreemptionOptions options{.draw = draws_.next(), .now = clock_.wall()};
  const PostFilterOutcome outcome =
      post_filter(state_.engine(), pod, profile, decision, budgets, options);
  if (klog_.enabled(2))
    klog_.info("Unable to schedule pod; no fit; waiting",
               {{"pod", kube::object_key(pod.meta)}, {"err", outcome.message}});
  const SteadyTime now = clock_.steady();
  metrics_.attempt(AttemptResult::unschedulable, profile.scheduler_name, now - started);
  for (const PluginId plugin : decision.rejecting_plugins)
    metrics_.rejected(std::string(name_of(plugin)), profile.scheduler_name);
  PodReports::Nomination nomination;
  if (outcome.preemption && outcome.preemption->best) {
    const PreemptionCandidate& best = outcome.preemption->candidates[*outcome.preemption->best];
    nomination = best.node;
    metrics_.preempted(best.victims.size());
    std::vector<PodPointer> yielding = state_.make_room(attempt.pod, best.node, best.victims);
    evictor_.evict({.preemptor = attempt.pod,
                    .profile = profile.scheduler_name,
                    .node = best.node,
                    .victims = best.victims,
                    .yielding = std::move(yielding)});
  } else if (outcome.preemption && outcome.preemption->clear_nomination) {
    nomination = "";
    state_.engine().forget_nomination(pod.meta.uid);
  }
  state_.queue().reject(pod.meta.uid, decision.rejecting_plugins, decision.rejected_by_extender,
                        now);
  reports_.failed(attempt.pod, profile.scheduler_name, "Unschedulable", outcome.message,
                  std::move(nomination));
}

void Daemon::log_scores(const kube::Pod& pod, const Decision& decision) {
  const std::string key = kube::object_key(pod.meta);
  for (const ScoredNode& row : decision.rows)
    for (const PluginScore& score : row.scores)
      klog_.append("Plugin scored node for pod", {{"pod", key},
                                                  {"plugin", name_of(score.plugin)},
                                                  {"node", row.node},
                                                  {"score", score.weighted}});
  for (const ScoredNode& row : decision.rows)
    klog_.append("Calculated node's final score for pod",
                 {{"pod", key}, {"node", row.node}, {"score", row.total}});
  klog_.flush();
}

void Daemon::place(const Attempt& attempt, const Profile& profile, const Decision& decision,
                   SteadyTime started) {
  state_.assume(attempt.pod, decision.node);
  if (klog_.enabled(3))
    klog_.info("Attempting to bind pod to node",
               {{"pod", kube::object_key(attempt.pod->meta)}, {"node", decision.node}});
  Binding binding{.pod = attempt.pod, .node = decision.node, .annotations = {}};
  if (options_.annotate_decisions) binding.annotations = annotations_of(decision);
  binder_.bind(std::move(binding),
               [this, attempt, profile = profile.scheduler_name, node = decision.node,
                missing = decision.missing_bytes, started](const Result<void>& answer) {
                 wake_.notify();
                 if (answer)
                   bound(attempt, profile, node, missing, started);
                 else
                   bind_failed(attempt, profile, answer.error(), started);
               });
}

void Daemon::bound(const Attempt& attempt, const std::string& profile, const std::string& node,
                   std::int64_t missing_bytes, SteadyTime started) {
  const kube::ObjectMeta& meta = attempt.pod->meta;
  state_.queue().done(meta.uid);
  const SteadyTime now = clock_.steady();
  metrics_.attempt(AttemptResult::scheduled, profile, now - started);
  metrics_.bound(attempt.attempts, now - attempt.first_tried, missing_bytes);
  if (klog_.enabled(2))
    klog_.info("Successfully bound pod to node", {{"pod", kube::object_key(meta)}, {"node", node}});
  reports_.placed(*attempt.pod, profile, node);
}

void Daemon::bind_failed(const Attempt& attempt, const std::string& profile, const Error& error,
                         SteadyTime started) {
  const kube::ObjectMeta& meta = attempt.pod->meta;
  const PodPointer now = pods_.store().find(kube::object_key(meta));
  const bool gone = !now || now->meta.uid != meta.uid;
  // The answer was lost, or somebody else was faster; the watch knows where it is.
  if (gone || !now->spec.node_name.empty()) return state_.queue().done(meta.uid);
  state_.forget(now);
  log::warn("scheduler", "cannot bind a pod", {{"pod", kube::object_key(meta)}, {"error", error}});
  metrics_.attempt(AttemptResult::error, profile, clock_.steady() - started);
  state_.queue().fail(meta.uid, clock_.steady());
  if (error.code == Code::not_found) return;
  reports_.failed(
      now, profile, "SchedulerError",
      fmt::format("binding rejected: running Bind plugin \"DefaultBinder\": {}", error.message));
}

void Daemon::warn_operator(std::string reason, std::string note) {
  events_.record({.regarding = {.api_version = "coordination.k8s.io/v1",
                                .kind = "Lease",
                                .ns = state_.config()->election.ns,
                                .name = state_.config()->election.name,
                                .uid = ""},
                  .controller = "plimsoll-scheduler",
                  .warning = true,
                  .reason = std::move(reason),
                  .action = "Reloading",
                  .note = std::move(note)});
}

}  // namespace plim::sched
