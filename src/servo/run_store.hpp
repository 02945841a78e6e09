// The servo's memory: every run is here before anybody hears of it, and once.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/files.hpp"
#include "base/journal.hpp"
#include "base/log.hpp"
#include "base/task.hpp"
#include "base/worker_pool.hpp"
#include "servo/metrics.hpp"
#include "servo/run_files.hpp"
#include "servo/run_index.hpp"

namespace plim::servo {

// Belongs to one loop; co_await stop() before destroying it. While nothing can be written (a full
// disk) runs wait in memory and are tried again; nobody is told of them before they are written.
//
// What is promised: a run that anybody has heard of, by a message, an answer of the API or a
// metric, was synced to disk before. To see a run in a watch promises nothing yet, so those that
// come close together share one sync: the first after a pause goes at once, the others wait for the
// end of `group`. Killed meanwhile the servo is as if killed that much earlier: what it had not
// stored it sees again in the pods that are there. That a run was sent is written without a sync,
// with the next runs, a little later, or when there are eight of them; until then a kill makes the
// message come again, with the same key.
class RunStore {
 public:
  struct Options {
    std::string directory;
    std::chrono::hours retention{24 * 90};
    std::chrono::hours key_memory{24 * 7};  // a key is known so long, and while its pod is there
    std::uint64_t max_bytes = std::uint64_t{1} << 30;
    std::uint64_t segment_bytes = std::uint64_t{4} << 20;
    std::size_t most_unwritten = 10'000;
    std::chrono::milliseconds group{40};   // at most one sync in so long; 0: each run its own
    std::function<int(int fd)> sync = {};  // for tests, as in JournalOptions
  };

  // After the run is on disk.
  using OnStored = std::function<void(const loop::RunRecord& run, JournalPosition at)>;
  // Once each time writing begins to fail, with a run that has to wait for it.
  using OnFailing = std::function<void(const loop::RunRecord& run, const Error& error)>;
  using IsPresent = std::function<bool(const std::string& uid)>;

  // Code::already_exists: another process has the directory.
  static Result<std::unique_ptr<RunStore>> open(const Executor& loop, Options options,
                                                Metrics& metrics, Clock& clock);

  void start(OnStored on_stored, IsPresent is_present, OnFailing on_failing = {});
  Task<void> stop();

  // Nothing happens if it is known already.
  void add(loop::RunRecord run, bool send);
  void mark(const std::string& key, SendState state, std::string why = {});

  // Where runs are that wait to be sent, oldest first, behind `after`; at most `limit`.
  std::vector<JournalPosition> unsent_after(JournalPosition after, std::size_t limit) const {
    return index_.unsent_after(after, limit);
  }

  std::size_t unsent() const { return index_.unsent(); }

  Task<Result<std::vector<StoredRun>>> load(std::vector<JournalPosition> places);
  Task<Result<RunPage>> page(RunQuery query);
  Task<Result<std::vector<StoredRun>>> of_pod(std::string uid);

  // Once runs were turned away because too many could not be written: true, after writing works
  // again. They have to be looked for anew.
  bool take_refused();

  // Forgets what is too old or too much; called by itself every hour.
  Task<void> forget_old();

 private:
  struct Writing {
    std::string text;
    std::function<void(JournalPosition at)> done;
    std::shared_ptr<const loop::RunRecord> run;  // null: a mark
  };

  RunStore(const Executor& loop, Options options, FileLock lock, Metrics& metrics, Clock& clock);
  Result<void> replay(JournalPosition at, std::string_view record);
  void show_unsent();
  void write(Writing writing);
  Task<void> commit_runs();
  Task<void> commit_marks();
  void commit();
  void note_marks();
  void append(Writing writing);
  void failed(Writing writing, const Error& error);
  Task<void> retry();
  Task<void> forget_hourly();
  Task<Result<bool>> forget_oldest();

  Options options_;
  FileLock lock_;
  Metrics& metrics_;
  Clock& clock_;
  OnStored on_stored_;
  IsPresent is_present_;
  OnFailing on_failing_;
  RunIndex index_;
  std::set<std::string> being_written_;         // keys
  std::vector<Writing> runs_;                   // for the next commit, in order
  std::vector<Writing> marks_;                  // the same, and not without their runs before
  SteadyTime next_commit_ = SteadyTime::min();  // of runs, not earlier
  SteadyTime first_mark_{};                     // of marks_
  Event runs_event_, marks_event_;              // there is a first one
  std::deque<Writing> unwritten_;               // failed, to be tried again
  bool refused_ = false;
  Event failed_event_;
  log::Throttle log_;
  std::unique_ptr<WorkerPool> readers_;
  std::unique_ptr<Journal> journal_;
  TaskGroup tasks_;
};

}  // namespace plim::servo
