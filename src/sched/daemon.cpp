#include "sched/daemon.hpp"

#include <optional>

#include "base/log.hpp"
#include "base/process_metrics.hpp"
#include "sched/explain.hpp"
#include "sched/resource_metrics.hpp"

namespace plim::sched {
namespace {

using namespace std::chrono_literals;

// Each binding in progress has its own connection.
constexpr std::size_t kMaxBinding = 32;

// How long stop() waits for events that are still queued. Another scheduler may lead by then, and
// whatever stops this process is unlikely to wait longer.
constexpr Nanos kEventsGrace = 10s;

}  // namespace

Daemon::Daemon(const Executor& loop, const DaemonOptions& options,
               const std::shared_ptr<kube::Client>& client,
               std::shared_ptr<kube::Client> event_client, metrics::Registry& registry,
               Clock& clock, Random& random)
    : clock_(clock),
      klog_(options.verbosity, clock),
      metrics_(registry),
      wake_(loop),
      extenders_(client, options.extenders),
      state_(make_state(options)),
      feed_(
          loop, client, options.etcd, state_, extenders_.texts(), [this] { wake_.notify(); },
          clock),
      events_(loop, event_client, options.host, clock),
      lease_events_(events_, state_),
      missing_(loop, std::move(event_client), events_, feed_.pods(), state_, clock),
      decider_(context(), {.seed = random.next(),
                           .annotate_decisions = options.annotate_decisions,
                           .explain_all_nodes = options.explain_all_nodes}),
      tries_(loop, client, events_, context(), decider_,
             {.annotate_decisions = options.annotate_decisions,
              .leads = [this] { return leading_; },
              .on_answer = [this] { wake_.notify(); },
              .missing = &missing_}),
      extender_tries_(loop, context(), decider_, tries_, [this] { wake_.notify(); }),
      dumper_(loop, client, state_, klog_, clock),
      tasks_(loop) {
  state_.queue().watch_hints(clock,
                             [this](PluginId plugin, EventKind kind, bool helps, Nanos took) {
                               metrics_.hinted(plugin, kind, helps, took);
                             });
  expose_metrics(registry);
}

Daemon::~Daemon() = default;

SchedulerState Daemon::make_state(const DaemonOptions& options) {
  return SchedulerState(
      {.config = options.config,
       .max_unschedulable = options.max_unschedulable,
       .defer_claims = options.defer_claims},
      [this](std::string_view place, std::string_view event) { metrics_.incoming(place, event); },
      [this](const kube::Pod& pod) {
        return extenders_.have_a_say(pod) ? Lane::asking : Lane::quick;
      },
      // While no pod may be tried, the next answer to a binding wakes the loop.
      {.on_change =
           [this] {
             if (may_bind()) wake_.notify();
           },
       .on_event =
           [this](EventKind kind, Nanos took) {
             metrics_.event_handled(kind, took);
             if (is_storage_event(kind)) tries_.storage_changed();
           }},
      clock_);
}

TryContext Daemon::context() {
  return {.state = state_,
          .feed = feed_,
          .extenders = extenders_,
          .metrics = metrics_,
          .klog = klog_,
          .clock = clock_};
}

void Daemon::expose_metrics(metrics::Registry& registry) {
  collector_ = registry.add_collector([this](metrics::Exposition& out) {
    metrics::expose_process(out);
    SchedulerMetrics::collect(state_.queue(), state_.engine(), clock_.wall(), out);
    auto events = out.family("plimsoll_scheduler_events_total", "Events, by what became of them.",
                             metrics::Type::counter);
    events.sample({{"result", "written"}}, static_cast<double>(events_.stats().written));
    events.sample({{"result", "dropped"}}, static_cast<double>(events_.stats().dropped));
  });
}

void Daemon::start() {
  if (std::exchange(started_, true)) return;
  feed_.start(needs_of(*state_.config()));
  events_.start();
  tasks_.spawn("scheduling", schedule());
}

Task<void> Daemon::stop() {
  leading_ = false;
  co_await tasks_.stop();
  co_await dumper_.stop();
  co_await extender_tries_.stop();
  co_await tries_.stop();
  co_await missing_.stop();
  co_await feed_.stop();
  co_await events_.stop(kEventsGrace);
}

void Daemon::lead() {
  leading_ = true;
  wake_.notify();
}

void Daemon::stop_leading() {
  leading_ = false;
  looked_for_missing_ = false;
}

void Daemon::set_config(std::shared_ptr<const Configuration> config,
                        std::shared_ptr<const ExtenderList> extenders) {
  extenders_.set(std::move(extenders));
  state_.set_config(std::move(config), feed_.pods());
  if (started_) feed_.follow(needs_of(*state_.config()));
}

Task<void> Daemon::schedule() {
  // The daemon waits only a few seconds for inventories, and nothing notifies it when these are
  // over.
  while (!synced()) (void)co_await wake_.wait_until(clock_, clock_.steady() + 1s);
  log::info("scheduler", "caches filled",
            {{"nodes", state_.engine().node_count()}, {"pods", feed_.pods().size()}});
  for (;;) {
    std::optional<SchedulingQueue::Attempt> attempt;
    // A new configuration may need kinds that are not listed yet.
    const bool may_decide = leading_ && may_bind() && synced();
    if (may_decide && !std::exchange(looked_for_missing_, true)) missing_.begin();
    const PopFrom lanes = extender_tries_.busy() ? PopFrom::quick_lane : PopFrom::all_lanes;
    if (may_decide) attempt = state_.queue().pop(clock_.steady(), lanes);
    if (attempt) {
      try_pod(*attempt);
      // Lets answers to bindings and watch events in; otherwise the wait below does.
      if (may_bind()) co_await yield_to_loop();
      continue;
    }
    // Sets no deadline if none is needed: under load this runs once for every pod.
    if (const auto flush = state_.queue().next_flush(); may_decide && flush)
      (void)co_await wake_.wait_until(clock_, *flush);
    else
      co_await wake_.wait();
  }
}

bool Daemon::may_bind() const {
  return tries_.binding() < kMaxBinding;
}

void Daemon::try_pod(const SchedulingQueue::Attempt& attempt) {
  auto current = tries_.begin(attempt);
  if (!current) return state_.queue().done(attempt.pod->meta.uid);
  if (extenders_.have_a_say(current->pod())) return extender_tries_.start(std::move(*current));
  tries_.conclude(*current, decider_.decide(*current, decider_.options_for(*current)));
}

void Daemon::update_sizes() {
  metrics_.sizes(state_.queue().counts(), state_.engine().node_count(), state_.engine().pod_count(),
                 state_.assumed(), tries_.binding());
}

std::optional<ExplainRecord> Daemon::explain_now(std::string_view ns, std::string_view name,
                                                 std::string_view uid) {
  const PodPointer pod = feed_.pods().find(kube::object_key(ns, name));
  if (!synced() || !pod || (!uid.empty() && pod->meta.uid != uid)) return std::nullopt;
  const Profile* profile = state_.config()->profile_named(pod->spec.scheduler_name);
  if (profile == nullptr || state_.is_assumed(pod->meta.uid)) return std::nullopt;
  ExplainRecord out = sched::explain_now(state_.engine(), pod, *profile, clock_, feed_.budgets());
  if (extenders_.have_a_say(*pod)) out.notes.emplace_back("extenders were not asked again");
  return out;
}

std::string Daemon::pod_resources() const {
  return leading_ ? expose_pod_resources(feed_.pods()) : "";
}

}  // namespace plim::sched
