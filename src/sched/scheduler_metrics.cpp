#include "sched/scheduler_metrics.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace plim::sched {
namespace {

constexpr std::array<std::string_view, 3> kResults{"scheduled", "unschedulable", "error"};

std::vector<double> doubling(double first, std::size_t count) {
  std::vector<double> out;
  for (std::size_t index = 0; index < count; ++index, first *= 2) out.push_back(first);
  return out;
}

std::vector<double> hint_bounds() {
  std::vector<double> out;
  double bound = 0.00001;
  for (std::size_t index = 0; index < 20; ++index, bound *= 1.5) out.push_back(bound);
  return out;
}

double in_seconds(Nanos duration) {
  return std::chrono::duration<double>(duration).count();
}

metrics::Gauge& cache_size(metrics::Registry& registry, const char* type) {
  return registry.gauge("scheduler_cache_size", "Nodes and pods that decisions look at.",
                        {{"type", type}});
}

}  // namespace

SchedulerMetrics::SchedulerMetrics(metrics::Registry& registry)
    : registry_(registry),
      plugins_(registry),
      algorithm_(registry.histogram("scheduler_scheduling_algorithm_duration_seconds",
                                    "Time that a decision took.", doubling(0.001, 15))),
      decision_(registry.histogram("plimsoll_scheduler_decision_seconds",
                                   "Time that a decision took, in finer steps.",
                                   doubling(0.000001, 24))),
      attempts_(registry.histogram("scheduler_pod_scheduling_attempts",
                                   "Tries until a pod was placed.", doubling(1, 5))),
      active_(registry, "active"),
      backoff_(registry, "backoff"),
      unschedulable_(registry, "unschedulable"),
      gated_(registry, "gated"),
      nodes_(cache_size(registry, "nodes")),
      pods_(cache_size(registry, "pods")),
      assumed_(cache_size(registry, "assumed_pods")),
      binding_(registry.gauge("scheduler_goroutines", "Bindings under way.",
                              {{"operation", "binding"}})),
      reload_success_(registry.gauge("plimsoll_scheduler_config_reload_success",
                                     "Whether the configuration file was good when last read.")),
      nodes_scored_(registry.gauge("plimsoll_scheduler_nodes_scored",
                                   "Nodes that the last decision compared.")),
      missing_bytes_(registry.counter("plimsoll_scheduler_image_bytes_missing_total",
                                      "Bytes of images that placed pods have to pull.")),
      saved_bytes_(registry.counter("plimsoll_scheduler_image_bytes_saved_total",
                                    "Bytes of images that were where pods were placed.")),
      tie_breaks_(registry.counter("plimsoll_scheduler_locality_tiebreak_total",
                                   "Decisions between equals by the images that nodes hold.")),
      preemptions_(registry.counter("scheduler_preemption_attempts_total",
                                    "Searches for pods whose place another may take.")),
      after_timeout_(registry.counter("scheduler_pod_scheduled_after_flush_total",
                                      "Pods placed after no event woke them for too long.")),
      victims_(registry.histogram("scheduler_preemption_victims",
                                  "Pods removed for one that needed their place.",
                                  doubling(1, 7))) {
  reload_success_.set(1);
}

SchedulerMetrics::WaitingGauges::WaitingGauges(metrics::Registry& registry, const char* queue)
    : pods(registry.gauge("scheduler_pending_pods", "Pods that wait, by where they wait.",
                          {{"queue", queue}})),
      entities(registry.gauge("scheduler_queued_entities", "Pods that wait, by where they wait.",
                              {{"queue", queue}, {"type", "pod"}})) {}

void SchedulerMetrics::WaitingGauges::set(std::size_t count) {
  pods.set(static_cast<double>(count));
  entities.set(static_cast<double>(count));
}

void SchedulerMetrics::attempt(AttemptResult result, const std::string& profile, Nanos duration) {
  const auto at = static_cast<std::size_t>(result);
  Attempts& made = attempts_of_profile_[profile][at];
  if (made.count == nullptr) {
    const metrics::Labels labels{{"result", std::string(kResults[at])}, {"profile", profile}};
    made.count =
        &registry_.counter("scheduler_schedule_attempts_total", "Tries to place a pod.", labels);
    made.duration =
        &registry_.histogram("scheduler_scheduling_attempt_duration_seconds",
                             "Time of a try, with its binding.", doubling(0.001, 15), labels);
  }
  made.count->add();
  made.duration->observe(in_seconds(duration));
}

void SchedulerMetrics::decided(Nanos duration, std::size_t nodes_scored, bool by_locality) {
  algorithm_.observe(in_seconds(duration));
  decision_.observe(in_seconds(duration));
  nodes_scored_.set(static_cast<double>(nodes_scored));
  if (by_locality) tie_breaks_.add();
}

void SchedulerMetrics::bound(const SchedulingQueue::Attempt& attempt, SteadyTime now) {
  attempts_.observe(attempt.attempts);
  if (attempt.timed_out) after_timeout_.add();
  const int told = std::clamp(attempt.attempts, 1, kMostAttempts);
  metrics::Histogram*& made = sli_[static_cast<std::size_t>(told - 1)];
  if (made == nullptr)
    made = &registry_.histogram(
        "scheduler_pod_scheduling_sli_duration_seconds",
        "Time from when a pod may be tried to its binding.", doubling(0.01, 20),
        {{"attempts", told < kMostAttempts ? fmt::format("{}", told) : "15+"}});
  made->observe(in_seconds(now - attempt.first_ready));
}

void SchedulerMetrics::pulls(std::int64_t image_bytes, std::int64_t missing_bytes) {
  if (missing_bytes > 0) missing_bytes_.add(static_cast<std::uint64_t>(missing_bytes));
  if (image_bytes > missing_bytes)
    saved_bytes_.add(static_cast<std::uint64_t>(image_bytes - missing_bytes));
}

void SchedulerMetrics::incoming(std::string_view queue, std::string_view event) {
  Incoming& made = incoming_[{queue, event}];
  if (made.pods == nullptr) {
    metrics::Labels labels{{"queue", std::string(queue)}, {"event", std::string(event)}};
    made.pods = &registry_.counter("scheduler_queue_incoming_pods_total",
                                   "Pods that got into a queue, and why.", labels);
    labels.emplace_back("type", "pod");
    made.entities = &registry_.counter("scheduler_queue_incoming_entities_total",
                                       "Pods that got into a queue, and why.", labels);
  }
  made.pods->add();
  made.entities->add();
}

void SchedulerMetrics::sizes(const QueueCounts& queue, std::size_t nodes, std::size_t pods,
                             std::size_t assumed, std::size_t binding) {
  active_.set(queue.active);
  backoff_.set(queue.backoff);
  unschedulable_.set(queue.unschedulable);
  gated_.set(queue.gated);
  nodes_.set(static_cast<double>(nodes));
  pods_.set(static_cast<double>(pods));
  assumed_.set(static_cast<double>(assumed));
  binding_.set(static_cast<double>(binding));
}

void SchedulerMetrics::looked_for_victims() {
  preemptions_.add();
}

void SchedulerMetrics::preempted(std::size_t victims) {
  victims_.observe(static_cast<double>(victims));
}

void SchedulerMetrics::evicted(bool all, Nanos took) {
  const metrics::Labels labels{{"result", all ? "success" : "error"}};
  registry_
      .counter("scheduler_preemption_goroutines_execution_total",
               "Removals of all victims of a preemption.", labels)
      .add();
  registry_
      .histogram("scheduler_preemption_goroutines_duration_seconds",
                 "Time to remove the victims of a preemption.", doubling(0.01, 20), labels)
      .observe(in_seconds(took));
}

void SchedulerMetrics::event_handled(EventKind kind, Nanos took) {
  metrics::Histogram*& made = events_[static_cast<std::size_t>(kind)];
  if (made == nullptr)
    made = &registry_.histogram("scheduler_event_handling_duration_seconds",
                                "Time to wake pods by an event.", doubling(0.0001, 12),
                                {{"event", std::string(label_of(kind))}});
  made->observe(in_seconds(took));
}

void SchedulerMetrics::hinted(PluginId plugin, EventKind kind, bool helps, Nanos took) {
  metrics::Histogram*& made = hints_[{plugin, kind, helps}];
  if (made == nullptr)
    made = &registry_.histogram("scheduler_queueing_hint_execution_duration_seconds",
                                "Time of a plugin's hint, of one of ten.", hint_bounds(),
                                {{"plugin", std::string(name_of(plugin))},
                                 {"event", std::string(label_of(kind))},
                                 {"hint", helps ? "Queue" : "QueueSkip"}});
  made->observe(in_seconds(took));
}

void SchedulerMetrics::collect(const SchedulingQueue& queue, const Engine& engine, WallTime now,
                               metrics::Exposition& out) {
  std::map<std::pair<std::string, std::string>, double> refused;
  double in_flight = 0;
  for (const WaitingPod& one : queue.waiting()) {
    if (one.place == "inFlight") {
      ++in_flight;
      continue;
    }
    const std::string profile(one.pod->spec.scheduler_name);
    for (const PluginId plugin : one.rejected_by)
      ++refused[{std::string(name_of(plugin)), profile}];
    if (one.by_extender) ++refused[{"Extender", profile}];
  }
  auto pods = out.family("scheduler_unschedulable_pods", "Pods that wait, by who refused them.",
                         metrics::Type::gauge);
  for (const auto& [labels, count] : refused)
    pods.sample({{"plugin", labels.first}, {"profile", labels.second}}, count);
  auto events = out.family("scheduler_inflight_events",
                           "Events kept for pods that are being tried.", metrics::Type::gauge);
  events.sample({{"event", "PodPopped"}}, in_flight);
  const auto kept = queue.kept_events();
  for (std::size_t kind = 0; kind < kept.size(); ++kind)
    if (kept[kind] > 0)
      events.sample({{"event", std::string(label_of(static_cast<EventKind>(kind)))}},
                    static_cast<double>(kept[kind]));
  const NodeTable& table = engine.cluster().table();
  const placement::ImageTable::Report* oldest = nullptr;
  NodeIndex of = 0;
  for (const NodeIndex row : table.live())
    for (const InventorySource reporter : placement::kReporters)
      if (const auto* report = engine.cluster().images().report(row, reporter);
          report != nullptr && (oldest == nullptr || report->reported_at < oldest->reported_at)) {
        oldest = report;
        of = row;
      }
  if (oldest == nullptr) return;
  out.family("plimsoll_scheduler_inventory_age_seconds", "Age of the oldest inventory of images.",
             metrics::Type::gauge)
      .sample({{"node", table.name(of)}}, in_seconds(now - oldest->reported_at));
}

}  // namespace plim::sched
