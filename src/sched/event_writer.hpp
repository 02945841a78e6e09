// Writes the scheduler's Events (events.k8s.io/v1) in the background. Unlike client-go's recorder
// it drops none before the queue is full: every placement must be reported. Events that exist once
// for each object, such as Scheduled, have their own queue. It is written first, about as fast as
// pods are bound: a crash loses what is still queued.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
  // Each object has one such event, even if several schedulers write it: its name is made from the
  // object's UID, and the API server rejects a second one.
  bool once = false;
  std::optional<WallTime> at = {};  // when it happened; none: now
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
  // Writes queued events for at most `grace`, and less if the server accepts none. The rest counts
  // as dropped.
  Task<void> stop(Nanos grace = Nanos(0));

  // Returns immediately. Repeats of a warning become a series of the first one.
  void record(SchedulerEvent event);

  // Reports who leads, as a core Event without an action, as kube-scheduler does.
  void record_election(const kube::ObjectReference& lease, std::string_view controller,
                       std::string_view message);

  const Stats& stats() const { return stats_; }

 private:
  struct Entry {
    std::string ns, name;  // of the Event; with a name it is patched
    std::string body;
    bool is_core = false;
    bool once = false;
    SteadyTime since{};
  };

  struct Series {
    std::string ns, name;
    std::int64_t count = 1, written = 1;
    WallTime last{};
  };

  void push(Entry entry);

  std::size_t queued() const { return queue_.size() + once_.size(); }

  std::size_t writers_wanted() const;
  void add_writer();
  Task<void> write_queued();
  std::vector<Entry> take_batch();
  Task<void> write(std::vector<Entry> batch);
  Task<void> insist(Entry entry);
  static net::Request request_for(const Entry& entry);
  // Why the event is not written; nullopt: it is.
  static std::optional<Error> rejection(const Entry& entry, const Result<net::Response>& answer);
  Task<void> refresh_series();
  void push_series(Series& series);

  std::shared_ptr<kube::Client> client_;
  std::string host_;
  Clock& clock_;
  std::deque<Entry> once_;  // written before queue_
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
