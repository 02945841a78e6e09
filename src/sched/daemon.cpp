#include "sched/daemon.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/rfc3339.hpp"

namespace plim::sched {
namespace {

using namespace std::chrono_literals;

// Each has a connection of its own while it is under way.
constexpr std::size_t kMaxBinding = 48;
constexpr std::size_t kExplainedRows = 20;
constexpr Nanos kLongestWait = 1s;
constexpr int kConditionTries = 4;

const kube::Resource kReplicationControllers{.group = "",
                                             .version = "v1",
                                             .plural = "replicationcontrollers",
                                             .kind = "ReplicationController"};
const kube::Resource kStatefulSets{
    .group = "apps", .version = "v1", .plural = "statefulsets", .kind = "StatefulSet"};

kube::ReflectorOptions running_pods() {
  kube::ReflectorOptions out;
  out.field_selector = "status.phase!=Succeeded,status.phase!=Failed";
  return out;
}

const kube::Condition* scheduled_condition(const kube::Pod& pod) {
  const auto found = std::ranges::find(pod.status.conditions, std::string_view("PodScheduled"),
                                       [](const kube::Condition& c) { return c.type.view(); });
  return found == pod.status.conditions.end() ? nullptr : &*found;
}

bool is_gated(const kube::Pod& pod) {
  const std::string_view gates = pod.spec.scheduling_gates;
  return !gates.empty() && gates != "[]" && gates != "null";
}

bool runs_at(const std::vector<PluginId>& plugins, PluginId plugin) {
  return std::ranges::find(plugins, plugin) != plugins.end();
}

}  // namespace

Daemon::Daemon(const Executor& loop, DaemonOptions options, std::shared_ptr<kube::Client> client,
               std::shared_ptr<kube::Client> event_client, metrics::Registry& registry,
               Clock& clock, Random& random)
    : config_(options.config),
      options_(std::move(options)),
      client_(std::move(client)),
      clock_(clock),
      draws_(random.next()),
      klog_(options_.verbosity, clock),
      metrics_(registry),
      pods_(loop, client_, kube::resources::pods, kube::pod_codec(pool_), running_pods(), clock),
      nodes_(loop, client_, kube::resources::nodes, kube::node_codec(pool_), {}, clock),
      namespaces_(loop, client_, kube::resources::namespaces, kube::meta_codec(pool_), {}, clock),
      events_(loop, std::move(event_client), options_.host, clock),
      inputs_(
          loop, client_, engine_, pool_, [this](EventKind kind) { happened({.kind = kind}); },
          clock),
      queue_(
          queue_options(),
          [this](const kube::Pod& pod) -> std::optional<PluginId> {
            const Profile* profile = config_->profile_named(pod.spec.scheduler_name);
            if (profile == nullptr || !is_gated(pod) ||
                !runs_at(profile->pre_enqueue, PluginId::SchedulingGates))
              return std::nullopt;
            return PluginId::SchedulingGates;
          },
          [this](std::string_view place, std::string_view event) {
            metrics_.incoming(place, event);
          }),
      wake_(loop),
      tasks_(loop) {
  add_handlers();
  for (const kube::Resource& resource : {kube::resources::services, kReplicationControllers,
                                         kube::resources::replica_sets, kStatefulSets})
    selecting_.push_back(std::make_unique<Selecting>(loop, client_, resource,
                                                     selecting_codec(resource.kind, pool_),
                                                     kube::ReflectorOptions{}, clock));
  for (auto& informer : selecting_)
    informer->add_handlers(
        {.on_add = [this](const auto& object) { engine_.set_selector_owner(object->owner); },
         .on_update = [this](const auto&,
                             const auto& object) { engine_.set_selector_owner(object->owner); },
         .on_delete =
             [this](const auto& object) {
               engine_.remove_selector_owner(object->owner.kind, object->owner.ns,
                                             object->owner.name);
             }});
}

Daemon::~Daemon() = default;

QueueOptions Daemon::queue_options() const {
  return {.initial_backoff = std::chrono::seconds(config_->initial_backoff_seconds),
          .max_backoff = std::chrono::seconds(config_->max_backoff_seconds),
          .max_unschedulable = options_.max_unschedulable};
}

void Daemon::add_handlers() {
  pods_.add_handlers({.on_add = [this](const PodPointer& pod) { pod_changed(nullptr, pod); },
                      .on_update = [this](const PodPointer& before,
                                          const PodPointer& now) { pod_changed(before, now); },
                      .on_delete = [this](const PodPointer& pod) { pod_gone(pod); },
                      .on_synced = [this] { wake_.notify(); }});
  nodes_.add_handlers({.on_add = [this](const NodePointer& node) { node_changed(nullptr, node); },
                       .on_update = [this](const NodePointer& before,
                                           const NodePointer& now) { node_changed(before, now); },
                       .on_delete =
                           [this](const NodePointer& node) {
                             engine_.remove_node(node->meta.name);
                             happened({.kind = EventKind::NodeDelete, .node_before = node});
                           },
                       .on_synced = [this] { wake_.notify(); }});
  namespaces_.add_handlers(
      {.on_add = [this](const auto& meta) { engine_.set_namespace(meta->name, meta->labels); },
       .on_update = [this](const auto&,
                           const auto& meta) { engine_.set_namespace(meta->name, meta->labels); },
       .on_delete = [this](const auto& meta) { engine_.remove_namespace(meta->name); },
       .on_synced = [this] { wake_.notify(); }});
}

void Daemon::start() {
  if (std::exchange(started_, true)) return;
  nodes_.start();
  pods_.start();
  namespaces_.start();
  for (auto& informer : selecting_) informer->start();
  inputs_.start();
  events_.start();
  tasks_.spawn("scheduling", schedule());
}

Task<void> Daemon::stop() {
  leading_ = false;
  co_await tasks_.stop();
  co_await pods_.stop();
  co_await nodes_.stop();
  co_await namespaces_.stop();
  for (auto& informer : selecting_) co_await informer->stop();
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
  return pods_.synced() && nodes_.synced() && namespaces_.synced() && inputs_.synced() &&
         std::ranges::all_of(selecting_, [](const auto& informer) { return informer->synced(); });
}

void Daemon::set_config(std::shared_ptr<const Configuration> config) {
  config_ = std::move(config);
  queue_.set_options(queue_options());
  for (const auto& [key, pod] : pods_.store())
    if (pod->spec.node_name.empty() && !assumed_.contains(pod->meta.uid)) {
      if (config_->profile_named(pod->spec.scheduler_name) == nullptr)
        queue_.remove(pod->meta.uid);
      else if (!queue_.contains(pod->meta.uid))
        queue_.add(pod, clock_.steady());
    }
  queue_.activate_all("ForceActivate", clock_.steady());
  wake_.notify();
}

void Daemon::happened(ClusterEvent event) {
  queue_.happened(event, clock_.steady());
  wake_.notify();
}

void Daemon::note_nomination(const PodPointer& before, const PodPointer& pod) {
  const std::string_view was = before ? before->status.nominated_node.view() : std::string_view();
  const std::string_view now = pod->status.nominated_node;
  if (was == now) return;
  engine_.forget_nomination(pod->meta.uid);
  if (!now.empty()) engine_.nominate(pod, now);
  // Its place is free for others.
  if (!was.empty()) happened({.kind = EventKind::AssignedPodDelete, .pod = before});
}

void Daemon::pod_changed(const PodPointer& before, const PodPointer& pod) {
  const std::string& uid = pod->meta.uid;
  if (!pod->spec.node_name.empty()) {
    const bool was_ours = assumed_.erase(uid) > 0;
    engine_.forget_nomination(uid);
    engine_.set_pod(pod);
    if (!was_ours) queue_.remove(uid);
    if (!before || before->spec.node_name.empty()) {
      happened({.kind = EventKind::AssignedPodAdd, .pod = pod});
      return;
    }
    for (const EventKind kind : changes_of_assigned(*before, *pod))
      happened({.kind = kind, .pod_before = before, .pod = pod});
    return;
  }
  if (config_->profile_named(pod->spec.scheduler_name) == nullptr) return;
  if (assumed_.contains(uid)) return;  // what we hear of it was written before it was bound
  note_nomination(before, pod);
  queue_.update(pod, clock_.steady());
  wake_.notify();
}

void Daemon::pod_gone(const PodPointer& pod) {
  const std::string& uid = pod->meta.uid;
  const bool counted =
      !pod->spec.node_name.empty() || assumed_.contains(uid) || !pod->status.nominated_node.empty();
  queue_.remove(uid);
  assumed_.erase(uid);
  engine_.forget_nomination(uid);
  engine_.remove_pod(uid);
  if (counted) happened({.kind = EventKind::AssignedPodDelete, .pod = pod});
}

void Daemon::node_changed(const NodePointer& before, const NodePointer& node) {
  engine_.set_node(*node);
  if (!before) return happened({.kind = EventKind::NodeAdd, .node = node});
  for (const EventKind kind : changes_of(*before, *node))
    happened({.kind = kind, .node_before = before, .node = node});
}

Task<void> Daemon::schedule() {
  while (!synced()) (void)co_await wake_.wait_until(clock_, clock_.steady() + kLongestWait);
  log::info("scheduler", "caches filled",
            {{"nodes", engine_.node_count()}, {"pods", pods_.store().size()}});
  for (;;) {
    std::optional<SchedulingQueue::Attempt> attempt;
    if (leading_ && binding_ < kMaxBinding) attempt = queue_.pop(clock_.steady());
    if (attempt) {
      schedule_one(*attempt);
      co_await yield_to_loop();  // answers to bindings and the watches come in between
      continue;
    }
    SteadyTime until = clock_.steady() + kLongestWait;
    if (const auto flush = queue_.next_flush(); flush && *flush < until) until = *flush;
    (void)co_await wake_.wait_until(clock_, until);
  }
}

void Daemon::update_sizes() {
  metrics_.sizes(queue_.counts(), engine_.node_count(), engine_.pod_count(), assumed_.size(),
                 binding_);
}

void Daemon::schedule_one(const SchedulingQueue::Attempt& attempt) {
  const kube::Pod& pod = *attempt.pod;
  const std::string& uid = pod.meta.uid;
  const std::shared_ptr<const Configuration> config = config_;
  const Profile* profile = config->profile_named(pod.spec.scheduler_name);
  if (profile == nullptr) return queue_.done(uid);
  if (pod.meta.deleted) {
    SchedulerEvent event = event_about(pod, profile->scheduler_name);
    event.warning = true;
    event.reason = "FailedScheduling";
    event.action = "Scheduling";
    event.note = fmt::format("skip schedule deleting pod: {}", kube::object_key(pod.meta));
    events_.record(std::move(event));
    return queue_.done(uid);
  }
  if (klog_.enabled(3))
    klog_.info("Attempting to schedule pod", {{"pod", kube::object_key(pod.meta)}});
  const SteadyTime started = clock_.steady();
  const WallTime wall = clock_.wall();
  DecideOptions options{.draw = draws_.next(), .now = wall};
  if (klog_.enabled(10) || options_.explain_all_nodes)
    options.rows = DecideOptions::kAllRows;
  else if (on_decision_ || options_.annotate_decisions)
    options.rows = kExplainedRows;
  const Decision decision = engine_.decide(pod, *profile, options);
  const Nanos took = clock_.steady() - started;
  metrics_.decided(took, decision.feasible, decision.tie_rule == "locality");
  if (klog_.enabled(10)) log_scores(pod, decision);
  if (on_decision_)
    on_decision_({.pod = attempt.pod,
                  .profile = profile,
                  .decision = &decision,
                  .engine = &engine_,
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
      queue_.fail(uid, now);
      return report(attempt.pod, profile->scheduler_name, "SchedulerError", decision.message);
  }
}

void Daemon::refuse(const SchedulingQueue::Attempt& attempt, const Profile& profile,
                    const Decision& decision, SteadyTime started) {
  const kube::Pod& pod = *attempt.pod;
  const std::vector<DisruptionBudget> budgets = inputs_.budgets();
  const PreemptionOptions options{.draw = draws_.next(), .now = clock_.wall()};
  const PostFilterOutcome outcome = post_filter(engine_, pod, profile, decision, budgets, options);
  if (klog_.enabled(2))
    klog_.info("Unable to schedule pod; no fit; waiting",
               {{"pod", kube::object_key(pod.meta)}, {"err", outcome.message}});
  const SteadyTime now = clock_.steady();
  metrics_.attempt(AttemptResult::unschedulable, profile.scheduler_name, now - started);
  for (const PluginId plugin : decision.rejecting_plugins)
    metrics_.rejected(std::string(name_of(plugin)), profile.scheduler_name);
  queue_.reject(pod.meta.uid, decision.rejecting_plugins, decision.rejected_by_extender, now);
  Nomination nomination;
  if (outcome.preemption && outcome.preemption->best) {
    const PreemptionCandidate& best = outcome.preemption->candidates[*outcome.preemption->best];
    nomination = best.node;
    engine_.nominate(attempt.pod, best.node);
    metrics_.preempted(best.victims.size());
    tasks_.spawn("preempt", evict(attempt.pod, profile.scheduler_name, best.node, best.victims));
  } else if (outcome.preemption && outcome.preemption->clear_nomination) {
    nomination = "";
    engine_.forget_nomination(pod.meta.uid);
  }
  report(attempt.pod, profile.scheduler_name, "Unschedulable", outcome.message,
         std::move(nomination));
}

// Each victim is told why before it is deleted; the pod itself comes again when they have gone.
Task<void> Daemon::evict(PodPointer pod, std::string profile, std::string node,
                         std::vector<PodPointer> victims) {
  for (const PodPointer& victim : victims) {
    json::object condition{
        {"type", "DisruptionTarget"},
        {"observedGeneration", victim->meta.generation},
        {"status", "True"},
        {"reason", "PreemptionByScheduler"},
        {"message", fmt::format("{}: preempting to accommodate a higher priority pod", profile)},
        {"lastTransitionTime", format_rfc3339(clock_.wall())}};
    json::array conditions;
    conditions.push_back(std::move(condition));
    json::value patch = json::object{{"status", {{"conditions", std::move(conditions)}}}};
    kube::ObjectPath status{
        .ns = std::string(victim->meta.ns), .name = victim->meta.name, .subresource = "status"};
    auto patched = co_await client_->patch(kube::resources::pods, status,
                                           kube::PatchType::strategic, std::move(patch));
    if (!patched && patched.error().code != Code::not_found)
      log::warn("scheduler", "cannot mark a victim",
                {{"pod", kube::object_key(victim->meta)}, {"error", patched.error()}});
    kube::ObjectPath path{.ns = std::string(victim->meta.ns), .name = victim->meta.name};
    kube::DeleteOptions options;
    options.uid = victim->meta.uid;
    auto removed = co_await client_->remove(kube::resources::pods, path, std::move(options));
    if (!removed && removed.error().code != Code::not_found) {
      log::warn("scheduler", "cannot remove a victim",
                {{"pod", kube::object_key(victim->meta)}, {"error", removed.error()}});
      continue;
    }
    SchedulerEvent event = event_about(*victim, profile);
    event.related = event_about(*pod, profile).regarding;
    event.reason = "Preempted";
    event.action = "Preempting";
    event.note = fmt::format("Preempted by pod {} on node {}", pod->meta.uid, node);
    events_.record(std::move(event));
  }
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

void Daemon::place(const SchedulingQueue::Attempt& attempt, const Profile& profile,
                   const Decision& decision, SteadyTime started) {
  const std::string& uid = attempt.pod->meta.uid;
  engine_.forget_nomination(uid);
  engine_.set_pod(attempt.pod, decision.node);
  assumed_[uid] = {decision.node};
  queue_.assumed(uid);
  json::object annotations;
  if (options_.annotate_decisions) {
    json::object said{{"total", decision.total}, {"missingBytes", decision.missing_bytes}};
    if (decision.rows.size() > 1)
      said["runnerUp"] =
          json::object{{"node", decision.rows[1].node}, {"total", decision.rows[1].total}};
    if (!decision.rows.empty()) {
      json::object scores;
      for (const PluginScore& score : decision.rows[0].scores)
        scores[name_of(score.plugin)] = score.weighted;
      said["scores"] = std::move(scores);
    }
    annotations["plimsoll.io/decision"] = to_json(said);
  }
  if (klog_.enabled(3))
    klog_.info("Attempting to bind pod to node",
               {{"pod", kube::object_key(attempt.pod->meta)}, {"node", decision.node}});
  ++binding_;
  tasks_.spawn("bind a pod", bind(attempt, profile.scheduler_name, decision.node,
                                  decision.missing_bytes, std::move(annotations), started));
}

Task<void> Daemon::bind(SchedulingQueue::Attempt attempt, std::string profile, std::string node,
                        std::int64_t missing_bytes, json::object annotations, SteadyTime started) {
  const kube::ObjectMeta& meta = attempt.pod->meta;
  json::object about{
      {"name", meta.name}, {"namespace", std::string_view(meta.ns)}, {"uid", meta.uid}};
  if (!annotations.empty()) about["annotations"] = std::move(annotations);
  json::value binding = json::object{{"apiVersion", "v1"},
                                     {"kind", "Binding"},
                                     {"metadata", std::move(about)},
                                     {"target", {{"kind", "Node"}, {"name", node}}}};
  kube::ObjectPath path{.ns = std::string(meta.ns), .name = meta.name, .subresource = "binding"};
  auto bound = co_await client_->create(kube::resources::pods, path, std::move(binding));
  --binding_;
  wake_.notify();
  if (!bound) {
    bind_failed(attempt, profile, bound.error(), started);
    co_return;
  }
  queue_.done(meta.uid);
  const SteadyTime now = clock_.steady();
  metrics_.attempt(AttemptResult::scheduled, profile, now - started);
  metrics_.bound(attempt.attempts, now - attempt.first_tried, missing_bytes);
  if (klog_.enabled(2))
    klog_.info("Successfully bound pod to node", {{"pod", kube::object_key(meta)}, {"node", node}});
  SchedulerEvent event = event_about(*attempt.pod, profile);
  event.reason = "Scheduled";
  event.action = "Binding";
  event.note = fmt::format("Successfully assigned {}/{} to {}", meta.ns, meta.name, node);
  events_.record(std::move(event));
}

void Daemon::bind_failed(const SchedulingQueue::Attempt& attempt, const std::string& profile,
                         const Error& error, SteadyTime started) {
  const kube::ObjectMeta& meta = attempt.pod->meta;
  const PodPointer now = pods_.store().find(kube::object_key(meta));
  const bool gone = !now || now->meta.uid != meta.uid;
  // The answer was lost, or somebody else was faster; the watch knows where it is.
  if (gone || !now->spec.node_name.empty()) return queue_.done(meta.uid);
  forget(now);
  log::warn("scheduler", "cannot bind a pod", {{"pod", kube::object_key(meta)}, {"error", error}});
  metrics_.attempt(AttemptResult::error, profile, clock_.steady() - started);
  queue_.fail(meta.uid, clock_.steady());
  if (error.code == Code::not_found) return;
  report(now, profile, "SchedulerError",
         fmt::format("binding rejected: running Bind plugin \"DefaultBinder\": {}", error.message));
}

// Takes back what was assumed.
void Daemon::forget(const PodPointer& pod) {
  if (assumed_.erase(pod->meta.uid) == 0) return;
  engine_.remove_pod(pod->meta.uid);
  happened({.kind = EventKind::AssignedPodDelete, .pod = pod});
}

SchedulerEvent Daemon::event_about(const kube::Pod& pod, const std::string& profile) const {
  return {.regarding = {.api_version = "v1",
                        .kind = "Pod",
                        .ns = std::string(pod.meta.ns),
                        .name = pod.meta.name,
                        .uid = pod.meta.uid,
                        .resource_version = pod.meta.resource_version},
          .controller = profile,
          .warning = false,
          .reason = {},
          .action = {},
          .note = {}};
}

void Daemon::report(const PodPointer& pod, const std::string& profile, std::string reason,
                    std::string message, Nomination nomination) {
  SchedulerEvent event = event_about(*pod, profile);
  event.warning = true;
  event.reason = "FailedScheduling";
  event.action = "Scheduling";
  event.note = message;
  events_.record(std::move(event));
  const PodPointer latest = pods_.store().find(kube::object_key(pod->meta));
  const kube::Condition* condition = scheduled_condition(latest ? *latest : *pod);
  if (!nomination && condition != nullptr && condition->status == "False" &&
      condition->reason == reason && condition->message == message)
    return;
  tasks_.spawn("write a condition",
               write_condition(pod, std::move(reason), std::move(message), std::move(nomination)));
}

Task<void> Daemon::write_condition(PodPointer pod, std::string reason, std::string message,
                                   Nomination nomination) {
  json::array conditions{json::object{{"type", "PodScheduled"},
                                      {"observedGeneration", pod->meta.generation},
                                      {"status", "False"},
                                      {"reason", reason},
                                      {"message", message},
                                      {"lastProbeTime", nullptr},
                                      {"lastTransitionTime", format_rfc3339(clock_.wall())}}};
  json::object status{{"conditions", std::move(conditions)}};
  if (nomination && nomination->empty())
    status["nominatedNodeName"] = nullptr;
  else if (nomination)
    status["nominatedNodeName"] = *nomination;
  const json::value patch = json::object{{"status", std::move(status)}};
  kube::ObjectPath path{
      .ns = std::string(pod->meta.ns), .name = pod->meta.name, .subresource = "status"};
  for (int attempt = 1;; ++attempt) {
    json::value body = patch;
    auto patched = co_await client_->patch(kube::resources::pods, path, kube::PatchType::strategic,
                                           std::move(body));
    if (patched || patched.error().code == Code::not_found) co_return;
    if (attempt == kConditionTries || !is_retryable(patched.error().code)) {
      log::warn("scheduler", "cannot say that a pod waits",
                {{"pod", kube::object_key(pod->meta)}, {"error", patched.error()}});
      co_return;
    }
    co_await clock_.sleep(200ms);
  }
}

void Daemon::warn_operator(std::string reason, std::string note) {
  events_.record({.regarding = {.api_version = "coordination.k8s.io/v1",
                                .kind = "Lease",
                                .ns = config_->election.ns,
                                .name = config_->election.name,
                                .uid = ""},
                  .controller = "plimsoll-scheduler",
                  .warning = true,
                  .reason = std::move(reason),
                  .action = "Reloading",
                  .note = std::move(note)});
}

}  // namespace plim::sched
