// The servo's store. Each run is stored once, before it is sent or shown.
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

// Belongs to one loop; co_await stop() before destroying it. While writing fails (a full disk),
// runs wait in memory and are retried. OnStored is not called for them before they are written.
//
// Guarantee: a run is synced to disk before it appears in a message, in an answer of the API or in
// a metric. A run that was only seen in a watch need not be on disk, so runs that end close
// together share one sync: the first after a pause is synced at once, the others at the end of
// `group`. If the servo is killed in between, it finds the missing runs again in the pods that
// still exist. The mark that a run was sent is written without a sync: with the next runs, after a
// short time, or when eight marks wait. If the servo is killed before, it sends the message again
// with the same key.
class RunStore {
 public:
  struct Options {
    std::string directory;
    std::chrono::hours retention{24 * 90};
    std::chrono::hours key_memory{24 * 7};  // keeps a key so long, and while its pod exists
    std::uint64_t max_bytes = std::uint64_t{1} << 30;
    std::uint64_t segment_bytes = std::uint64_t{4} << 20;
    std::size_t most_unwritten = 10'000;
    std::chrono::milliseconds group{40};   // at most one sync per group; 0: one sync per run
    std::function<int(int fd)> sync = {};  // for tests, as in JournalOptions
  };

  // Called after the run is on disk.
  using OnStored = std::function<void(const loop::RunRecord& run, JournalPosition at)>;
  // Called once each time writing begins to fail, with a run that has to wait.
  using OnFailing = std::function<void(const loop::RunRecord& run, const Error& error)>;
  using IsPresent = std::function<bool(const std::string& uid)>;

  // Code::already_exists: another process has the directory.
  static Result<std::unique_ptr<RunStore>> open(const Executor& loop, Options options,
                                                Metrics& metrics, Clock& clock);

  void start(OnStored on_stored, IsPresent is_present, OnFailing on_failing = {});
  Task<void> stop();

  // Does nothing if the run is known already.
  void add(loop::RunRecord run, bool send);
  void mark(const std::string& key, SendState state, std::string why = {});

  // Positions of unsent runs after `after`, oldest first, at most `limit`.
  std::vector<JournalPosition> unsent_after(JournalPosition after, std::size_t limit) const {
    return index_.unsent_after(after, limit);
  }

  std::size_t unsent() const { return index_.unsent(); }

  Task<Result<std::vector<StoredRun>>> load(std::vector<JournalPosition> places);
  Task<Result<RunPage>> page(RunQuery query);
  Task<Result<std::vector<StoredRun>>> of_pod(std::string uid);

  // True if runs were dropped because too many waited to be written, and writing works again. The
  // caller then has to list the pods again.
  bool take_refused();

  // Deletes runs by age and by the size of the store. The store calls it every hour.
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
  std::vector<Writing> marks_;                  // the same; written after their runs
  SteadyTime next_commit_ = SteadyTime::min();  // earliest time of the next commit of runs
  SteadyTime first_mark_{};                     // when the first of marks_ was added
  Event runs_event_, marks_event_;              // runs_ or marks_ is no longer empty
  std::deque<Writing> unwritten_;               // writing failed; retry() writes them
  bool refused_ = false;
  Event failed_event_;
  log::Throttle log_;
  std::unique_ptr<WorkerPool> readers_;
  std::unique_ptr<Journal> journal_;
  TaskGroup tasks_;
};

}  // namespace plim::servo
