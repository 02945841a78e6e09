// The store of the local cluster: an ordered map with revisions in memory, a log on disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/files.hpp"
#include "base/journal.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "local/store/entry.hpp"
#include "local/store/store_snapshot.hpp"
#include "local/store/store_watch.hpp"
#include "local/store/txn.hpp"
#include "local/store/view.hpp"

namespace plim::local::store {

struct StoreOptions {
  std::string directory = {};  // not used with Durability::none
  Durability durability = Durability::fsync;
  // Writes that would exceed this size fail; 0: no limit.
  std::uint64_t max_live_bytes = 0;
  // Old revisions that view_at() can still return: at most this many, and at most this old.
  std::size_t max_views = 10'000;
  Nanos max_view_age = std::chrono::minutes(5);
  HistoryLimits history = {};
  WatchLimits watch = {};
  // A snapshot is due when the log exceeds twice the live bytes, within these bounds.
  std::uint64_t min_log_bytes = std::uint64_t{4} << 20;
  std::uint64_t max_log_bytes = std::uint64_t{64} << 20;
  std::uint64_t segment_bytes = std::uint64_t{16} << 20;
  std::function<int(int fd)> sync = {};  // as in JournalOptions
};

struct StoreStats {
  Revision revision = 0;
  std::size_t entries = 0;
  std::uint64_t live_bytes = 0;
  std::uint64_t history_bytes = 0;
  std::uint64_t log_bytes = 0;
  std::size_t watchers = 0;
  std::uint64_t snapshots = 0;  // written since the start
};

// Belongs to one loop, which must outlive it; views and entries may go to other threads. Reads and
// watches show only acknowledged writes, never anything that a crash could undo. Transactions are
// checked against all writes before them, acknowledged or not. If one fails because of a write that
// is not acknowledged, its error is delayed until that write is durable.
class Store {
 public:
  // Recovers from the newest snapshot in the directory and the log after it.
  static Result<std::unique_ptr<Store>> open(Executor loop, Clock& clock, StoreOptions options);
  // Without close(), writes under way may or may not survive.
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  View view() const { return committed_; }

  // Code::expired: no longer kept; Code::unavailable: not reached yet.
  Result<View> view_at(Revision revision) const;

  EntryPtr get(std::string_view key) const { return committed_.get(key); }

  // Gets its place in the order of writes when called, not when awaited. Completes when the write
  // is durable, with its revision. Errors: those of apply(), too_large, and errors of the log.
  // Cancelling the caller does not undo the write. Without operations it only compares.
  Task<Result<Revision>> txn(const Txn& txn);

  // The revision of the next successful txn(), for values that contain it.
  Revision next_revision() const { return latest_.revision() + 1; }

  Result<std::unique_ptr<Watcher>> watch(std::string prefix, Revision after,
                                         ChangeFilter filter = {});
  // True if the store reaches `revision`, false at the deadline.
  Task<bool> wait_for(Revision revision, SteadyTime deadline);

  // Writes a snapshot now and drops the log before it.
  Task<Result<void>> compact();
  StoreStats stats() const;
  // Rejects new writes, waits for those under way and for a snapshot, ends watches.
  Task<void> close();

 private:
  struct Outcome;
  struct Write;
  struct SnapshotJob;

  Store(Executor loop, Clock& clock, StoreOptions options);
  Result<void> recover();
  Result<void> replay(std::string_view record);
  Result<Applied> judge(const Txn& txn) const;
  void settle(Result<JournalPosition> written);
  void commit(Write& write);
  void remember_view();
  void give_up_writes();
  void start_snapshot();
  void write_snapshot_of(View view, std::uint64_t next_segment);
  void snapshot_done(const Result<std::uint64_t>& written, std::uint64_t next_segment,
                     Revision revision);
  void snapshot_if_due();

  struct OldView {
    View view;
    SteadyTime since;
  };

  Executor loop_;
  Clock& clock_;
  const StoreOptions options_;
  std::optional<FileLock> lock_;
  std::shared_ptr<WatchHub> hub_;

  View committed_;                // what readers see
  std::deque<OldView> views_;     // up to committed_, by revision without gaps
  View latest_;                   // includes the writes under way
  std::uint64_t live_bytes_ = 0;  // of latest_
  std::uint64_t committed_live_bytes_ = 0;
  std::deque<Write> writes_;  // under way, in order
  bool closing_ = false;
  Event changed_;  // notified of changes of committed_, writes_, snapshotting_

  bool snapshotting_ = false;
  std::optional<Error> snapshot_error_;
  std::uint64_t snapshots_ = 0;
  std::uint64_t retry_at_ = 0;  // after a failed snapshot: wait until the log has this size
  std::thread snapshot_thread_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // on the loop; for late callbacks

  std::unique_ptr<Journal> journal_;  // last: destroyed first, then it calls nothing any more
};

}  // namespace plim::local::store
