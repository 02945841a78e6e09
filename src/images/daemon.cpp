#include "images/daemon.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/resident.hpp"
#include "net/rpc.hpp"

namespace plim::images {
namespace {

using namespace std::chrono_literals;

constexpr double kJitter = 0.2;
constexpr Backoff::Options kRuntimeAway{.first = 1s, .limit = 8s, .factor = 2, .jitter = 0.2};
constexpr Backoff::Options kEventsAway{.first = 1s, .limit = 30s, .factor = 2, .jitter = 0.2};
// Another runtime may listen at the socket by then.
constexpr Nanos kAskAgain = 5min;
constexpr Backoff::Options kReaderAway{.first = 1s, .limit = 60s, .factor = 2, .jitter = 0.2};

constexpr const char* kReportsName = "plimsoll_images_reports_total";
constexpr const char* kReportsHelp = "Inventories published, by result";

}  // namespace

Daemon::Daemon(const Executor& loop, DaemonOptions options,
               std::vector<std::unique_ptr<Publisher>> publishers, metrics::Registry& registry,
               Clock& clock, Random& random)
    : loop_(loop),
      options_(std::move(options)),
      publishers_(std::move(publishers)),
      clock_(clock),
      random_(random),
      images_(registry.gauge("plimsoll_images_images", "Images on this node")),
      layers_(registry.gauge("plimsoll_images_layers", "Different layers of these images")),
      runtime_up_(registry.gauge("plimsoll_images_runtime_up",
                                 "Whether the container runtime answered the last request")),
      reported_(registry.counter(kReportsName, kReportsHelp, {{"result", "success"}})),
      failed_(registry.counter(kReportsName, kReportsHelp, {{"result", "failure"}})),
      changed_(loop),
      event_(loop),
      tasks_(loop) {}

Daemon::~Daemon() = default;

void Daemon::start() {
  choose_runtime();
  tasks_.spawn("image events", follow_events());
  tasks_.spawn("container runtime", watch_runtime());
  for (const auto& publisher : publishers_)
    tasks_.spawn(fmt::format("publishing to {}", publisher->name()),
                 keep_published(publisher.get()));
}

Task<void> Daemon::stop() {
  co_await tasks_.stop();
}

std::string Daemon::not_ready() const {
  if (generation_ == 0)
    return problem_.empty() ? "images: the runtime has not answered yet" : "images: " + problem_;
  if (published_ == 0 && !publishers_.empty()) return "images: nothing has been published yet";
  return {};
}

json::value Daemon::state() const {
  const loop::ImageInventory& inventory = source_->collector.inventory();
  json::object out{{"node", options_.node_name},        {"socket", source_->runtime.socket()},
                   {"runtime", inventory.runtime},      {"up", up_},
                   {"generation", generation_},         {"images", inventory.images.size()},
                   {"layers", inventory.layers.size()}, {"pulling", inventory.pulling.size()}};
  if (!problem_.empty()) out["problem"] = problem_;
  return json::object{{"images", std::move(out)}};
}

void Daemon::choose_runtime() {
  const std::string socket =
      options_.socket.empty() ? find_runtime_socket(options_.host_root) : options_.socket;
  if (source_ && source_->runtime.socket() == socket) return;
  source_ = std::make_shared<Source>(loop_, socket);
}

Nanos Daemon::jittered(Nanos interval) {
  const double share = 1 + kJitter * (2 * random_.unit() - 1);
  return std::chrono::duration_cast<Nanos>(interval * share);
}

Task<void> Daemon::watch_runtime() {
  Backoff away(kRuntimeAway, random_);
  for (;;) {
    const std::uint64_t seen = events_;  // those that arrive during the look need another one
    const auto look = co_await source_->collector.look();
    Nanos wait{};
    if (look) {
      saw(*look);
      away.reset();
      wait = jittered(look->pulling ? options_.pull_interval : options_.interval);
    } else {
      lost(look.error());
      choose_runtime();
      wait = std::min(away.next(), options_.interval);
    }
    co_await wait_for_event(seen, clock_.steady() + wait);
  }
}

// Returns at `due`, or after an event. A pull is several events, so it waits a moment for the last
// one; that also limits how often events cause a look.
Task<void> Daemon::wait_for_event(std::uint64_t seen, SteadyTime due) {
  while (events_ == seen && clock_.steady() < due) (void)co_await event_.wait_until(clock_, due);
  if (events_ != seen) co_await clock_.sleep(options_.event_gap);
}

// containerd reports changes of images. Other runtimes do not; the agent polls them.
Task<void> Daemon::follow_events() {
  Backoff away(kEventsAway, random_);
  for (;;) {
    const std::shared_ptr<Source> source = source_;
    const auto reader = co_await source->runtime.image_events();
    std::string message;
    while (co_await reader->next(message)) {
      away.reset();
      ++events_;
      event_.notify();
    }
    const bool unknown = reader->status().code == net::RpcCode::unimplemented;
    co_await clock_.sleep(unknown ? kAskAgain : away.next());
  }
}

void Daemon::saw(const Collector::Look& look) {
  const loop::ImageInventory& inventory = source_->collector.inventory();
  if (!up_)
    log::info("images", "the runtime answers",
              {{"runtime", inventory.runtime}, {"socket", source_->runtime.socket()}});
  if (look.changed) {
    ++generation_;
    images_.set(static_cast<double>(inventory.images.size()));
    layers_.set(static_cast<double>(inventory.layers.size()));
  }
  const bool was_up = std::exchange(up_, true);
  runtime_up_.set(1);
  problem_.clear();
  if (look.changed || !was_up) changed_.notify();
}

void Daemon::lost(const Error& error) {
  problem_ = fmt::format("the runtime at {} does not answer: {}", source_->runtime.socket(),
                         error.message);
  runtime_up_.set(0);
  up_ = false;
  log_.write(log::Level::warn, "images", "the runtime does not answer",
             {{"socket", source_->runtime.socket()}, {"error", error}});
}

Task<void> Daemon::keep_published(Publisher* publisher) {
  Backoff away(kReaderAway, random_);
  std::int64_t sent = 0;
  SteadyTime due{};
  for (;;) {
    // Do not resend the state of an unavailable runtime as if it were current.
    while (generation_ == sent && (!up_ || clock_.steady() < due)) {
      if (up_ && sent != 0)
        (void)co_await changed_.wait_until(clock_, due);
      else
        co_await changed_.wait();
    }
    const std::shared_ptr<Source> source = source_;
    co_await source->collector.look_at_filesystem();
    loop::ImageInventory inventory = source->collector.inventory();
    const std::int64_t generation = generation_;
    inventory.generation = generation;
    inventory.reported_at = clock_.wall();
    const auto done = co_await publisher->publish(std::move(inventory));
    // Reading and writing a large list fragments the heap: up to a third of all memory.
    return_freed_memory();
    if (!done) {
      failed_.add();
      log_.write(log::Level::warn, "images", "the inventory was not published",
                 {{"by", publisher->name()}, {"error", done.error()}});
      co_await clock_.sleep(away.next());
      continue;
    }
    reported_.add();
    ++published_;
    away.reset();
    sent = generation;
    due = clock_.steady() + options_.resend;
    co_await clock_.sleep(publisher->shortest_gap());
  }
}

}  // namespace plim::images
