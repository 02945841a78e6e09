// Publishes the image inventory of a node: reads the runtime and calls the publishers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/metrics.hpp"
#include "base/random.hpp"
#include "base/task.hpp"
#include "images/collector.hpp"
#include "images/publisher.hpp"
#include "images/runtime.hpp"

namespace plim::images {

struct DaemonOptions {
  std::string node_name;
  std::string socket = {};  // "": the first runtime that exists
  std::string host_root = "/";
  Nanos interval = std::chrono::seconds(10);
  Nanos pull_interval = std::chrono::seconds(5);     // while an image is being pulled
  Nanos event_gap = std::chrono::milliseconds(500);  // between two looks because of events
  Nanos resend = std::chrono::minutes(8);            // after ten, readers treat it as stale
};

// Belongs to one loop; co_await stop() before destroying it.
class Daemon {
 public:
  Daemon(const Executor& loop, DaemonOptions options,
         std::vector<std::unique_ptr<Publisher>> publishers, metrics::Registry& registry,
         Clock& clock, Random& random = system_random());
  ~Daemon();

  void start();
  Task<void> stop();

  std::string not_ready() const;  // the reason, for users; "": it is ready
  json::value state() const;

 private:
  // The runtime of one socket; a publisher may still use it when another one is chosen.
  struct Source {
    Source(const Executor& loop, std::string socket)
        : runtime(loop, std::move(socket)), collector(runtime) {}

    Runtime runtime;
    Collector collector;
  };

  void choose_runtime();
  Task<void> watch_runtime();
  Task<void> follow_events();
  Task<void> wait_for_event(std::uint64_t seen, SteadyTime due);
  void saw(const Collector::Look& look);
  void lost(const Error& error);
  Nanos jittered(Nanos interval);
  Task<void> keep_published(Publisher* publisher);

  Executor loop_;
  DaemonOptions options_;
  std::vector<std::unique_ptr<Publisher>> publishers_;
  Clock& clock_;
  Random& random_;
  metrics::Gauge &images_, &layers_, &runtime_up_;
  metrics::Counter &reported_, &failed_;
  std::shared_ptr<Source> source_;
  std::int64_t generation_ = 0;  // of the runtime's state; 0: none yet
  bool up_ = false;
  std::string problem_;  // of the runtime, while it is unavailable
  std::size_t published_ = 0;
  std::uint64_t events_ = 0;  // from the runtime, about its images
  Event changed_, event_;
  log::Throttle log_;
  TaskGroup tasks_;
};

}  // namespace plim::images
