// Writes Events about objects in the background. Callers never wait for it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/json.hpp"
#include "base/queue.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "kube/event_correlator.hpp"

namespace plim::kube {

struct EventSource {
  std::string component;  // "plimsoll-servo"
  std::string host = {};
};

// Belongs to one loop; co_await stop() before destroying it.
class EventRecorder {
 public:
  struct Stats {
    std::uint64_t written = 0;
    std::uint64_t dropped = 0;  // the queue was full, or the server refused the Event
    std::uint64_t over_budget = 0;
  };

  EventRecorder(const Executor& loop, std::shared_ptr<Client> client, EventSource source,
                Clock& clock = system_clock(), std::size_t queue_size = 1000);

  void start();
  // Waits until everything recorded so far is written or dropped, for `at_most` at most. Call it
  // before stop(), which drops what is still queued.
  Task<void> flush(Nanos at_most);
  Task<void> stop();

  // Returns at once.
  void record(const EventNote& note);

  const Stats& stats() const { return stats_; }

 private:
  struct Entry {
    std::string ns;
    std::string name;
    bool repeated = false;
    json::value event;
  };

  Task<void> write_queued();
  Task<Result<void>> write(const Entry* entry);

  std::shared_ptr<Client> client_;
  EventSource source_;
  Clock& clock_;
  EventCorrelator correlator_;
  Queue<Entry> queue_;
  Stats stats_;
  std::size_t unsettled_ = 0;  // queued, or being written
  Event settled_;
  TaskGroup tasks_;
};

}  // namespace plim::kube
