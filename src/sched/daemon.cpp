#include "sched/daemon.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "base/process_metrics.hpp"
#include "sched/resource_metrics.hpp"

namespace plim::sched {
namespace {

using namespace std::chrono_literals;

// Each has a connection of its own while it is under way.
constexpr std::size_t kMaxBinding = 32;

// Of what a burst of pods has left to be told. Another one may lead meanwhile, and nobody who stops
// this process is likely to wait for longer.
constexpr Nanos kEventsGrace = 10s;

kube::ReflectorOptions running_pods() {
  kube::ReflectorOptions out;
  out.field_selector = kRunningPods;
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
      texts_(client),
      extenders_(options_.extenders),
      state_(
          {.config = options_.config,
           .max_unschedulable = options_.max_unschedulable,
           .defer_claims = options_.defer_claims},
          [this](std::string_view place, std::string_view event) {
            metrics_.incoming(place, event);
          },
          [this](const kube::Pod& pod) {
            return extenders_have_a_say(pod) ? Lane::asking : Lane::quick;
          },
          {.on_change = [this] { wake_.notify(); },
           .on_event = [this](EventKind kind, Nanos took) { metrics_.event_handled(kind, took); }},
          clock),
      pods_(loop, client, kube::resources::pods, texts_.keeping(kube::pod_codec(pool_)),
            running_pods(), clock),
      nodes_(loop, client, kube::resources::nodes, texts_.keeping(kube::node_codec(pool_)), {},
             clock),
      namespaces_(
          loop, client, state_.engine(), pool_, [this] { wake_.notify(); }, clock),
      inputs_(
          loop, client, options_.etcd, state_.engine(), pool_,
          [this](EventKind kind) { state_.happened({.kind = kind}); }, [this] { wake_.notify(); },
          clock),
      events_(loop, std::move(event_client), options_.host, clock),
      reports_(loop, client, events_, pods_.store(), clock),
      evictor_(
          loop, client, reports_, state_,
          [this](bool all, Nanos took) { metrics_.evicted(all, took); }, clock),
      binder_(loop, client),
      comparer_(client, state_, clock),
      round_(loop, texts_),
      tasks_(loop) {
  use_extenders(extenders_);
  add_handlers();
  state_.queue().watch_hints(clock,
                             [this](PluginId plugin, EventKind kind, bool helps, Nanos took) {
                               metrics_.hinted(plugin, kind, helps, took);
                             });
  collector_ = registry.add_collector([this](metrics::Exposition& out) {
    metrics::expose_process(out);
    SchedulerMetrics::collect(state_.queue(), state_.engine(), clock_.wall(), out);
    auto events = out.family("plimsoll_scheduler_events_total", "Events, by what became of them.",
                             metrics::Type::counter);
    events.sample({{"result", "written"}}, static_cast<double>(events_.stats().written));
    events.sample({{"result", "dropped"}}, static_cast<double>(events_.stats().dropped));
  });
}

Daemon::~Daemon() = default;

void Daemon::add_handlers() {
  pods_.add_handlers({.on_add = [this](const auto& pod) { state_.pod_changed(nullptr, pod); },
                      .on_update = [this](const auto& before,
                                          const auto& now) { state_.pod_changed(before, now); },
                      .on_delete =
                          [this](const auto& pod) {
                            texts_.forget_pod(pod->meta.uid);
                            state_.pod_gone(pod);
                          },
                      .on_synced = [this] { wake_.notify(); }});
  nodes_.add_handlers({.on_add = [this](const auto& node) { state_.node_changed(nullptr, node); },
                       .on_update = [this](const auto& before,
                                           const auto& now) { state_.node_changed(before, now); },
                       .on_delete =
                           [this](const auto& node) {
                             texts_.forget_node(node->meta.name);
                             state_.node_gone(node);
                           },
                       .on_synced = [this] { wake_.notify(); }});
}

void Daemon::start() {
  if (std::exchange(started_, true)) return;
  nodes_.start();
  pods_.start();
  follow_what_is_needed();
  events_.start();
  tasks_.spawn("scheduling", schedule());
}

Task<void> Daemon::stop() {
  leading_ = false;
  co_await tasks_.stop();
  co_await round_.stop();
  co_await binder_.stop();
  co_await evictor_.stop();
  co_await reports_.stop();
  co_await pods_.stop();
  co_await nodes_.stop();
  co_await namespaces_.stop();
  co_await inputs_.stop();
  co_await events_.stop(kEventsGrace);
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

void Daemon::set_config(std::shared_ptr<const Configuration> config,
                        std::shared_ptr<const ExtenderList> extenders) {
  use_extenders(std::move(extenders));
  state_.set_config(std::move(config), pods_.store());
  if (started_) follow_what_is_needed();
}

// A kind stays followed when a new configuration does without it.
void Daemon::follow_what_is_needed() {
  const placement::Needs needs = needs_of(*state_.config());
  namespaces_.start(needs);
  inputs_.start(needs);
}

void Daemon::use_extenders(std::shared_ptr<const ExtenderList> extenders) {
  extenders_ = std::move(extenders);
  const auto any = [this](auto wants) { return std::ranges::any_of(*extenders_, wants); };
  texts_.want(any([](const auto& one) { return one->has_a_say(); }),
              any([](const auto& one) { return one->wants_whole_nodes(); }));
}

bool Daemon::extenders_have_a_say(const kube::Pod& pod) const {
  return std::ranges::any_of(*extenders_, [&](const auto& one) { return one->has_a_say(pod); });
}

Task<void> Daemon::schedule() {
  // Some of it is waited for only so long, which nobody tells.
  while (!synced()) (void)co_await wake_.wait_until(clock_, clock_.steady() + 1s);
  log::info("scheduler", "caches filled",
            {{"nodes", state_.engine().node_count()}, {"pods", pods_.store().size()}});
  for (;;) {
    std::optional<Attempt> attempt;
    // A new configuration may look at kinds that are not known yet.
    const bool may_decide = leading_ && binder_.under_way() < kMaxBinding && synced();
    if (may_decide)
      attempt =
          asking_ ? state_.queue().pop_quick(clock_.steady()) : state_.queue().pop(clock_.steady());
    if (attempt) {
      if (auto current = begin(*attempt); !current) {
        state_.queue().done(attempt->pod->meta.uid);
      } else if (extenders_have_a_say(current->pod())) {
        asking_ = true;
        tasks_.spawn("ask extenders", ask_and_schedule(std::move(*current)));
      } else {
        conclude(*current, decide(*current, decide_options(*current)));
      }
      co_await yield_to_loop();  // answers to bindings and the watches come in between
      continue;
    }
    // Without a deadline where none is needed: under load this is once for every pod.
    if (const auto flush = state_.queue().next_flush(); may_decide && flush)
      (void)co_await wake_.wait_until(clock_, *flush);
    else
      co_await wake_.wait();
  }
}

void Daemon::update_sizes() {
  metrics_.sizes(state_.queue().counts(), state_.engine().node_count(), state_.engine().pod_count(),
                 state_.assumed(), binder_.under_way());
}

std::string Daemon::pod_resources() const {
  return leading_ ? expose_pod_resources(pods_.store()) : "";
}

void Daemon::dump() {
  dump_cache(state_, klog_);
  if (!std::exchange(comparing_, true))
    tasks_.spawn("compare the cache", compare_cache_with_list());
}

Task<void> Daemon::compare_cache_with_list() {
  const Result<CacheDifference> found = co_await comparer_.compare();
  comparing_ = false;
  if (found)
    log_difference(state_, *found, klog_);
  else
    log::warn("scheduler", "the cache cannot be compared", {{"error", found.error()}});
}

kube::ObjectReference Daemon::lease(std::string uid) const {
  const ElectionConfig& election = state_.config()->election;
  return {.api_version = "coordination.k8s.io/v1",
          .kind = "Lease",
          .ns = election.ns,
          .name = election.name,
          .uid = std::move(uid)};
}

void Daemon::tell_of_lease(std::string uid, std::string_view message) {
  const auto& profile = state_.config()->profiles.front().profile;
  events_.record_election(lease(std::move(uid)), profile.scheduler_name, message);
}

void Daemon::warn_operator(std::string reason, std::string note) {
  events_.record({.regarding = lease(""),
                  .controller = "plimsoll-scheduler",
                  .warning = true,
                  .reason = std::move(reason),
                  .action = "Reloading",
                  .note = std::move(note)});
}

}  // namespace plim::sched
