#include "local/store/store.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/log.hpp"
#include "base/loop.hpp"
#include "local/store/layout.hpp"

namespace plim::local::store {

// The result of a write, for the tasks that wait for it.
struct Store::Outcome {
  explicit Outcome(const Executor& loop) : decided(loop) {}

  void decide(Result<Revision> what) {
    result.emplace(std::move(what));
    decided.notify();
  }

  static Task<Result<Revision>> wait(std::shared_ptr<Outcome> outcome) {
    while (!outcome->result) co_await outcome->decided.wait();
    co_return *outcome->result;
  }

  // `error` occurred while the write of `outcome` was under way, and may be caused by it.
  static Task<Result<Revision>> wait_then_fail(std::shared_ptr<Outcome> outcome, Error error) {
    while (!outcome->result) co_await outcome->decided.wait();
    if (!*outcome->result) co_return outcome->result->error();
    co_return error;
  }

  static Task<Result<Revision>> ready(Result<Revision> result) { co_return result; }

  std::optional<Result<Revision>> result;
  Event decided;
};

struct Store::Write {
  View view;
  std::vector<ChangePtr> changes;
  std::uint64_t live_bytes = 0;
  std::shared_ptr<Outcome> outcome;
  bool given_up = false;  // an earlier write failed
};

Store::Store(Executor loop, Clock& clock, StoreOptions options)
    : loop_(std::move(loop)), clock_(clock), options_(std::move(options)), changed_(loop_) {}

Result<std::unique_ptr<Store>> Store::open(Executor loop, Clock& clock, StoreOptions options) {
  std::unique_ptr<Store> out(new Store(std::move(loop), clock, std::move(options)));
  PLIM_CHECK(out->recover());
  return out;
}

Store::~Store() {
  *alive_ = false;
  if (snapshot_thread_.joinable()) snapshot_thread_.join();
  if (hub_) hub_->close();
}

Result<void> Store::recover() {
  Snapshot snapshot;
  const bool on_disk = options_.durability != Durability::none;
  if (on_disk) {
    PLIM_CHECK(make_durable_directory(options_.directory));
    PLIM_TRY(lock_, lock_store(options_.directory));
    PLIM_TRY(snapshot, read_newest_snapshot(options_.directory));
    // If the process that wrote it was killed, its name may not be on disk yet. The log that it
    // replaces is removed below.
    if (snapshot.view.revision() > 0) PLIM_CHECK(sync_directory(options_.directory));
  }
  latest_ = committed_ = snapshot.view;
  live_bytes_ = snapshot.live_bytes;
  hub_ = std::make_shared<WatchHub>(loop_, clock_, committed_.revision(), options_.history,
                                    options_.watch);
  remember_view();
  JournalOptions journal{.files = log_files(options_.directory, snapshot.next_segment),
                         .durability = options_.durability,
                         .segment_bytes = options_.segment_bytes,
                         .sync = options_.sync};
  auto visit = [this](JournalPosition, std::string_view record) { return replay(record); };
  auto opened = Journal::open(loop_, std::move(journal), visit);
  if (!opened)
    return fail(opened.error().code, opened.error().message + "; see plimsoll store verify");
  journal_ = std::move(*opened);
  committed_live_bytes_ = live_bytes_;
  if (on_disk) PLIM_CHECK(remove_old_snapshots(options_.directory, snapshot.view.revision()));
  return {};
}

Result<void> Store::replay(std::string_view record) {
  PLIM_TRY(std::optional<Applied> applied, store::replay(record, committed_, live_bytes_));
  if (!applied) return {};
  latest_ = committed_ = View(next_revision(), std::move(applied->tree));
  live_bytes_ = applied->live_bytes;
  remember_view();
  hub_->publish(applied->changes);
  return {};
}

Result<View> Store::view_at(Revision revision) const {
  if (revision > committed_.revision())
    return fail(Code::unavailable, fmt::format("revision {} does not exist yet; the newest is {}",
                                               revision, committed_.revision()));
  const Revision oldest = views_.front().view.revision();
  if (revision < oldest)
    return fail(Code::expired,
                fmt::format("revision {} is no longer kept; the oldest is {}", revision, oldest));
  return views_[revision - oldest].view;
}

Task<Result<Revision>> Store::txn(const Txn& txn) {
  auto applied = judge(txn);
  if (!applied) {
    if (writes_.empty()) return Outcome::ready(applied.error());
    return Outcome::wait_then_fail(writes_.back().outcome, applied.error());
  }
  if (txn.ops.empty()) {
    if (writes_.empty()) return Outcome::ready(committed_.revision());
    return Outcome::wait(writes_.back().outcome);
  }
  Write write{.view = View(next_revision(), std::move(applied->tree)),
              .changes = std::move(applied->changes),
              .live_bytes = applied->live_bytes,
              .outcome = std::make_shared<Outcome>(loop_)};
  journal_->append(encode_txn(txn.ops, write.view.revision()),
                   [this](Result<JournalPosition> written) { settle(std::move(written)); });
  latest_ = write.view;
  live_bytes_ = write.live_bytes;
  auto outcome = write.outcome;
  writes_.push_back(std::move(write));
  return Outcome::wait(std::move(outcome));
}

// Applies the transaction to the newest state, if it is allowed.
Result<Applied> Store::judge(const Txn& txn) const {
  if (closing_) return fail(Code::unavailable, "the store is closing");
  std::size_t size = 0;
  for (const Op& op : txn.ops) {
    if (resource_of(op.key).empty())
      return fail(Code::invalid, fmt::format("{} is not /registry/<group>/<resource>/…", op.key));
    size += op.key.size() + (op.value ? op.value->size() : 0) + 16;
  }
  if (size + 16 > kMaxRecord)
    return fail(Code::too_large, fmt::format("a transaction of {} bytes is too large", size));
  PLIM_TRY(Applied applied, apply(txn, latest_.tree(), live_bytes_, next_revision()));
  if (options_.max_live_bytes != 0 && applied.live_bytes > options_.max_live_bytes &&
      applied.live_bytes > live_bytes_)
    return fail(Code::internal,
                fmt::format("the store is full: {} bytes of at most {}; delete objects first",
                            live_bytes_, options_.max_live_bytes));
  return applied;
}

// The log reports writes in their order.
void Store::settle(Result<JournalPosition> written) {
  Write write = std::move(writes_.front());
  writes_.pop_front();
  if (written) {
    PLIM_ASSERT(!write.given_up);
    commit(write);
  } else {
    if (!write.given_up) give_up_writes();
    write.outcome->decide(written.error());
  }
  changed_.notify();
}

void Store::commit(Write& write) {
  committed_ = std::move(write.view);
  committed_live_bytes_ = write.live_bytes;
  remember_view();
  hub_->publish(write.changes);
  write.outcome->decide(committed_.revision());
  snapshot_if_due();
}

// A write failed. Later ones were checked as if it had succeeded, and the log drops them too.
void Store::give_up_writes() {
  for (Write& write : writes_) write.given_up = true;
  latest_ = committed_;
  live_bytes_ = committed_live_bytes_;
}

void Store::remember_view() {
  constexpr int kForgetAtOnce = 100;  // so that one write does not pay for all
  views_.push_back({committed_, clock_.steady()});
  while (views_.size() > std::max<std::size_t>(options_.max_views, 1)) views_.pop_front();
  const SteadyTime old = clock_.steady() - options_.max_view_age;
  for (int i = 0; i < kForgetAtOnce && views_.size() > 1 && views_[1].since < old; ++i)
    views_.pop_front();
}

Result<std::unique_ptr<Watcher>> Store::watch(std::string prefix, Revision after,
                                              ChangeFilter filter) {
  return hub_->watch(std::move(prefix), after, std::move(filter));
}

Task<bool> Store::wait_for(Revision revision, SteadyTime deadline) {
  while (committed_.revision() < revision) {
    const bool in_time = co_await changed_.wait_until(clock_, deadline);
    if (!in_time) co_return committed_.revision() >= revision;
  }
  co_return true;
}

void Store::snapshot_if_due() {
  const std::uint64_t limit =
      std::clamp(2 * committed_live_bytes_, options_.min_log_bytes, options_.max_log_bytes);
  if (journal_->bytes() > std::max(limit, retry_at_)) start_snapshot();
}

void Store::start_snapshot() {
  if (snapshotting_ || closing_ || options_.durability == Durability::none) return;
  snapshotting_ = true;
  snapshot_error_.reset();
  // The log reports the new segment after all earlier writes and before all later ones, so the
  // committed state at that moment is exactly what the older segments contain.
  journal_->start_segment([this](Result<JournalPosition> started) {
    if (started)
      write_snapshot_of(committed_, started->segment);
    else
      snapshot_done(started.error(), 0, 0);
  });
}

void Store::write_snapshot_of(View view, std::uint64_t next_segment) {
  if (snapshot_thread_.joinable()) snapshot_thread_.join();  // it has ended: this call was its last
  auto work = [this, alive = alive_, loop = loop_, directory = options_.directory,
               view = std::move(view), next_segment] {
    auto written =
        std::make_shared<Result<std::uint64_t>>(write_snapshot(directory, view, next_segment));
    post_to(loop, [this, alive, written, next_segment, revision = view.revision()] {
      if (*alive) snapshot_done(*written, next_segment, revision);
    });
  };
  snapshot_thread_ = std::thread(std::move(work));
}

void Store::snapshot_done(const Result<std::uint64_t>& written, std::uint64_t next_segment,
                          Revision revision) {
  snapshotting_ = false;
  if (written) {
    ++snapshots_;
    retry_at_ = 0;
    journal_->remove_before(next_segment);
    if (auto removed = remove_old_snapshots(options_.directory, revision); !removed)
      log::warn("store", "cannot remove old snapshots", {{"error", removed.error()}});
  } else {
    snapshot_error_ = written.error();
    retry_at_ = journal_->bytes() + options_.min_log_bytes;
    log::warn("store", "cannot write a snapshot; the log keeps growing",
              {{"error", written.error()}});
  }
  changed_.notify();
}

Task<Result<void>> Store::compact() {
  while (snapshotting_) co_await changed_.wait();  // an earlier one does not contain everything
  start_snapshot();
  while (snapshotting_) co_await changed_.wait();
  if (snapshot_error_) co_return *snapshot_error_;
  co_return Result<void>();
}

StoreStats Store::stats() const {
  return {.revision = committed_.revision(),
          .entries = committed_.tree().size(),
          .live_bytes = committed_live_bytes_,
          .history_bytes = hub_->bytes(),
          .log_bytes = journal_->bytes(),
          .watchers = hub_->watchers(),
          .snapshots = snapshots_};
}

Task<void> Store::close() {
  closing_ = true;
  while (!writes_.empty() || snapshotting_) co_await changed_.wait();
  hub_->close();
}

}  // namespace plim::local::store
