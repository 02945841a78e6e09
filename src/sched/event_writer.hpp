// Writes the scheduler's Events, of events.k8s.io/v1, beside the work. Unlike the common recorder
// it never drops one while there is memory: that a pod was placed must be told.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "kube/event_correlator.hpp"
#include "kube/store.hpp"

namespace plim::sched {

struct SchedulerEvent {
  kube::ObjectReference regarding;
  std::string controller;  // the scheduler's name
  bool warning = false;
  std::string reason, action, note;
  std::optional<kube::ObjectReference> related = {};
};

// Belongs to one loop; co_await stop() before destroying it.
class EventWriter {
 public:
  struct Stats {
    std::uint64_t recorded = 0, written = 0, dropped = 0;
  };

  EventWriter(const Executor& loop, std::shared_ptr<kube::Client> client, std::string host,
              Clock& clock = system_clock());

  void start();
  // Writes what is queued for at most `grace`, and not for a server that takes nothing; the rest is
  // lost and counts as dropped.
  Task<void> stop(Nanos grace = Nanos(0));

  // Returns at once. Repeats of the same warning become a series of the first one.
  void record(SchedulerEvent event);

  // Who leads, of which kube-scheduler writes core Events, without an action.
  void record_election(const kube::ObjectReference& lease, std::string_view controller,
                       std::string_view message);

  const Stats& stats() const { return stats_; }

 private:
  struct Entry {
    std::string ns, name;  // of the Event; a name: it is patched
    std::string body;
    bool is_core = false;
    SteadyTime since{};
  };

  struct Series {
    std::string ns, name;
    std::int64_t count = 1, written = 1;
    WallTime last{};
  };

  void push(Entry entry);
  std::size_t writers_wanted() const;
  void add_writer();
  Task<void> write_queued();
  Task<void> write(Entry entry);
  Task<void> refresh_series();
  void push_series(Series& series);

  std::shared_ptr<kube::Client> client_;
  std::string host_;
  Clock& clock_;
  std::deque<Entry> queue_;
  std::size_t queued_bytes_ = 0;
  std::size_t writers_ = 0;
  bool started_ = false;
  kube::TextMap<Series> series_;
  Event idle_;
  Stats stats_;
  TaskGroup tasks_;
};

}  // namespace plim::sched
