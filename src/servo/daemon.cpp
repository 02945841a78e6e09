#include "servo/daemon.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "base/resident.hpp"
#include "net/loopback_hosts.hpp"
#include "servo/api.hpp"
#include "servo/paced_client.hpp"
#include "servo/payload.hpp"

namespace plim::servo {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostWatches = 8;  // with more namespaces, one watch of all pods
// How long a frequent event may wait. With the store's group, the time from the end of a job to its
// message stays below 100 ms.
constexpr auto kPace = 50ms;
constexpr auto kHelloLimit = 3s;
constexpr auto kDrainLimit = 3s;
constexpr auto kGoodbyeLimit = 1s;

}  // namespace

Daemon::Daemon(const Executor& loop, Settings settings, std::shared_ptr<kube::Client> client,
               std::unique_ptr<Receiver> receiver, metrics::Registry& registry, Clock& clock,
               std::size_t most_in_memory)
    : loop_(loop),
      settings_(std::move(settings)),
      client_(std::move(client)),
      receiver_(std::move(receiver)),
      clock_(clock),
      metrics_(registry),
      events_(loop, client_, kube::EventSource{.component = "plimsoll-servo"}, clock),
      collector_(registry.add_collector([this](metrics::Exposition& out) { collect(out); })),
      most_in_memory_(most_in_memory),
      feed_event_(loop),
      tasks_(loop) {}

Task<Result<void>> Daemon::start() {
  RunStore::Options options{.directory = settings_.store};
  // Sent runs need not be kept, but their keys must.
  if (settings_.sink == Sink::post) options.retention = options.key_memory;
  PLIM_CO_TRY(store_, RunStore::open(loop_, std::move(options), metrics_, clock_));
  auto on_stored = [this](const loop::RunRecord& run, JournalPosition at) { run_stored(run, at); };
  auto on_failing = [this](const loop::RunRecord& run, const Error& error) {
    tell_pod(run, "MeasurementDelayed", "the run cannot be stored yet: " + error.message);
  };
  store_->start(on_stored, [this](const std::string& uid) { return is_present(uid); }, on_failing);

  ApiParts parts{.store = *store_, .metrics = metrics_, .clock = clock_, .not_ready = [this] {
                   return not_ready();
                 }};
  auto routes = net::only_for_loopback_hosts(settings_.listen, api_routes(std::move(parts)));
  net::ServerOptions listen{
      .address = settings_.listen, .max_connections = 1'000, .max_connections_per_peer = 200};
  PLIM_CO_TRY(server_, net::Server::listen({loop_}, std::move(listen), std::move(routes)));
  log::info("servo", "listening", {{"address", server_->address()}});

  events_.start();
  if (receiver_) {
    Sender::Options sending{.extra = settings_.extra ? Extra::more : Extra::none};
    Sender::Callbacks callbacks{.on_sent =
                                    [this](const loop::RunRecord& run) {
                                      store_->mark(run.key(), SendState::sent);
                                      feed_event_.notify();
                                    },
                                .on_dead = [this](const loop::RunRecord& run,
                                                  const std::string& why) { run_dead(run, why); }};
    sender_ = std::make_unique<Sender>(loop_, *receiver_, metrics_, std::move(callbacks), sending,
                                       clock_);
    co_await greet(hello(settings_.account), kHelloLimit);
    sender_->start();
    tasks_.spawn("feeder", feed());
  } else {
    log::info("servo", "not sending runs; they are only stored", {{"store", settings_.store}});
  }
  make_watches();
  tasks_.spawn("second look", look_again());
  tasks_.spawn("settling", settle());
  co_return Result<void>();
}

void Daemon::make_watches() {
  std::vector<std::string> scopes = settings_.jobs.namespaces.names;
  if (scopes.empty() || scopes.size() > kMostWatches) scopes = {""};
  const auto paced = with_paced_watches(loop_, client_, kPace, clock_);
  for (std::string& ns : scopes) {
    auto on_end = [this](loop::RunRecord run) { run_ended(std::move(run)); };
    watches_.push_back(std::make_unique<JobWatch>(loop_, paced, std::move(ns), settings_.jobs,
                                                  metrics_, on_end, clock_));
    watches_.back()->start();
  }
}

Task<void> Daemon::stop(std::string reason) {
  co_await tasks_.stop();
  for (const auto& watch : watches_) co_await watch->stop();
  if (sender_) {
    co_await sender_->drain(kDrainLimit);
    co_await greet(goodbye(settings_.account, reason), kGoodbyeLimit);
    co_await sender_->stop();
  }
  if (server_) co_await server_->drain(net::Millis(0));
  co_await events_.stop();
  if (store_) co_await store_->stop();
}

void Daemon::run_ended(loop::RunRecord run) {
  const bool send = sender_ != nullptr && run.result != loop::RunRecord::Result::deleted;
  store_->add(std::move(run), send);
}

void Daemon::run_stored(const loop::RunRecord& run, JournalPosition at) {
  log::debug("servo", "run stored", {{"key", run.key()}});
  if (!sender_ || run.result == loop::RunRecord::Result::deleted) return;
  if (behind_ || sender_->queued() >= most_in_memory_) {
    behind_ = true;
    feed_event_.notify();
    return;
  }
  handed_ = at;
  sender_->add(run);
}

void Daemon::run_dead(const loop::RunRecord& run, const std::string& why) {
  store_->mark(run.key(), SendState::dead, why);
  feed_event_.notify();
  tell_pod(run, "MeasurementRefused", "the measurement of this run cannot be sent: " + why);
}

// Records an event, if there is an API server to record it.
void Daemon::tell_pod(const loop::RunRecord& run, std::string reason, std::string message) {
  if (!is_present(run.uid)) return;
  kube::EventNote note{
      .about = {.api_version = "v1", .kind = "Pod", .ns = run.ns, .name = run.pod, .uid = run.uid},
      .type = kube::EventNote::Type::warning,
      .reason = std::move(reason),
      .message = std::move(message)};
  events_.record(note);
}

// Returns true until all pods are listed: before that a missing pod proves nothing.
bool Daemon::is_present(const std::string& uid) const {
  return std::ranges::any_of(
      watches_, [&](const auto& watch) { return !watch->synced() || watch->is_present(uid); });
}

std::string Daemon::not_ready() const {
  std::string out;
  for (const auto& watch : watches_) {
    const std::string why = watch->not_ready();
    if (!why.empty()) out += (out.empty() ? "" : "; ") + why;
  }
  return watches_.empty() ? "starting" : out;
}

Task<void> Daemon::greet(std::string body, std::chrono::milliseconds limit) {
  Message message{.subject = {.app = std::string(loop::kGlobalAppId)}, .body = std::move(body)};
  auto answer = co_await receiver_->post(std::move(message), limit);
  if (!answer)
    log::warn("servo", "cannot reach the receiver", {{"error", answer.error()}});
  else if (answer->status >= 300)
    log::warn("servo", "the receiver rejected HELLO or GOODBYE", {{"status", answer->status}});
}

Task<void> Daemon::feed() {
  Backoff backoff;
  for (;;) {
    if (!behind_ || sender_->queued() >= (most_in_memory_ + 1) / 2) {
      co_await feed_event_.wait();
      continue;
    }
    auto places = store_->unsent_after(handed_, most_in_memory_ - sender_->queued());
    if (places.empty()) {
      behind_ = false;
      continue;
    }
    const JournalPosition last = places.back();
    auto runs = co_await store_->load(std::move(places));
    if (!runs) {
      log::error("servo", "cannot read unsent runs from the store", {{"error", runs.error()}});
      co_await clock_.sleep(backoff.next());
      continue;
    }
    for (StoredRun& run : *runs)
      if (run.state == SendState::unsent) sender_->add(std::move(run.run));
    handed_ = last;
  }
}

// Lists all pods again: runs that were dropped while the disk was full may still be in their pods.
Task<void> Daemon::look_again() {
  for (;;) {
    co_await clock_.sleep(10s);
    if (!store_->take_refused()) continue;
    log::info("servo", "the store works again; listing all pods again");
    for (const auto& watch : watches_) co_await watch->stop();
    watches_.clear();
    make_watches();
  }
}

// Drops code pages from memory after 10 s, 20 s, 40 s and so on. The first list, handshake, run and
// message call library functions for the first time, and each first call makes the dynamic linker
// search all libraries, which loads pages that are not needed later.
Task<void> Daemon::settle() {
  const SteadyTime start = clock_.steady();
  for (Nanos after = 10s; after < 24h; after *= 2) {
    co_await clock_.sleep_until(start + std::chrono::duration_cast<SteadyTime::duration>(after));
    forget_code_of_start();
  }
}

void Daemon::collect(metrics::Exposition& out) const {
  std::uint64_t relists = 0;
  std::uint64_t reopened = 0;
  std::uint64_t failures = 0;
  std::size_t jobs = 0;
  for (const auto& watch : watches_) {
    const auto& stats = watch->stats();
    relists += stats.lists > 0 ? stats.lists - 1 : 0;
    reopened += stats.watches > stats.lists ? stats.watches - stats.lists : 0;
    failures += stats.failures;
    jobs += watch->jobs();
  }
  auto restarts = out.family("plimsoll_servo_watch_restarts_total",
                             "Lists and watches started again, and failures that caused a back-off",
                             metrics::Type::counter);
  restarts.sample({{"reason", "list"}}, static_cast<double>(relists));
  restarts.sample({{"reason", "watch"}}, static_cast<double>(reopened));
  restarts.sample({{"reason", "failure"}}, static_cast<double>(failures));
  out.family("plimsoll_servo_jobs", "Pods of jobs that exist now", metrics::Type::gauge)
      .sample(static_cast<double>(jobs));
}

}  // namespace plim::servo
