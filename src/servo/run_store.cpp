#include "servo/run_store.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

namespace plim::servo {
namespace {

using namespace std::chrono_literals;

constexpr int kMarkPatience = 5;       // how many groups a mark waits for runs
constexpr std::size_t kMostMarks = 8;  // then write at once: each lost mark is a message sent twice

std::string uid_of_key(std::string_view key) {
  return std::string(key.substr(0, key.find('/')));
}

}  // namespace

RunStore::RunStore(const Executor& loop, Options options, FileLock lock, Metrics& metrics,
                   Clock& clock)
    : options_(std::move(options)),
      lock_(std::move(lock)),
      metrics_(metrics),
      clock_(clock),
      runs_event_(loop),
      marks_event_(loop),
      failed_event_(loop),
      tasks_(loop) {}

Result<std::unique_ptr<RunStore>> RunStore::open(const Executor& loop, Options options,
                                                 Metrics& metrics, Clock& clock) {
  PLIM_CHECK(make_durable_directory(options.directory));
  PLIM_TRY(FileLock lock, FileLock::acquire(options.directory + "/lock"));
  std::unique_ptr<RunStore> out(
      new RunStore(loop, std::move(options), std::move(lock), metrics, clock));
  JournalOptions journal{.files = run_files(out->options_.directory),
                         .segment_bytes = out->options_.segment_bytes,
                         .sync = out->options_.sync};
  auto replay = [&](JournalPosition at, std::string_view record) {
    return out->replay(at, record);
  };
  PLIM_TRY(out->journal_, Journal::open(loop, std::move(journal), replay));
  WorkerPool::Options readers{.name = "servo-read", .threads = 1};
  out->readers_ = std::make_unique<WorkerPool>(std::move(readers));
  return out;
}

void RunStore::start(OnStored on_stored, IsPresent is_present, OnFailing on_failing) {
  on_stored_ = std::move(on_stored);
  on_failing_ = std::move(on_failing);
  is_present_ = std::move(is_present);
  tasks_.spawn("store commit", commit_runs());
  tasks_.spawn("store marks", commit_marks());
  tasks_.spawn("store retry", retry());
  tasks_.spawn("store retention", forget_hourly());
}

Task<void> RunStore::stop() {
  options_.group = 0ms;
  commit();
  co_await tasks_.stop();
  readers_->stop();
}

// Skips a record that cannot be read, such as one of a newer version.
Result<void> RunStore::replay(JournalPosition at, std::string_view record) {
  auto entry = decode_entry(record);
  if (!entry) {
    log_.write(log::Level::warn, "servo", "skipped a record of the store that cannot be read",
               {{"at", format_position(at)}, {"error", entry.error()}});
  } else {
    index_.add(at, std::move(*entry));
    show_unsent();
  }
  return {};
}

void RunStore::show_unsent() {
  metrics_.unsent.set(static_cast<double>(index_.unsent()));
}

void RunStore::add(loop::RunRecord run, bool send) {
  std::string key = run.key();
  if (index_.knows(key) || being_written_.contains(key)) return;
  if (unwritten_.size() >= options_.most_unwritten) {
    refused_ = true;
    log_.write(log::Level::error, "servo",
               "too many runs wait to be written; dropping further runs",
               {{"waiting", unwritten_.size()}});
    return;
  }
  being_written_.insert(key);
  RunEntry entry{std::move(run), send};
  std::string text = encode_entry(entry);
  auto kept = std::make_shared<const loop::RunRecord>(std::move(entry.run));
  auto done = [this, key = std::move(key), send, kept](JournalPosition at) {
    being_written_.erase(key);
    index_.add_run(key, at, kept->observed, send ? SendState::unsent : SendState::kept);
    show_unsent();
    metrics_.count_run(*kept);
    if (on_stored_) on_stored_(*kept, at);
  };
  write({std::move(text), std::move(done), std::move(kept)});
}

void RunStore::mark(const std::string& key, SendState state, std::string why) {
  index_.mark(key, state, why);
  show_unsent();
  MarkEntry entry{.key = key, .state = state, .why = std::move(why), .at = clock_.wall()};
  write({encode_entry(entry), {}, {}});
}

void RunStore::write(Writing writing) {
  const bool is_run = writing.run != nullptr;
  std::vector<Writing>& waiting = is_run ? runs_ : marks_;
  waiting.push_back(std::move(writing));
  if (options_.group == 0ms) return commit();
  if (!is_run && waiting.size() == 1) first_mark_ = clock_.steady();
  if (waiting.size() == 1) (is_run ? runs_event_ : marks_event_).notify();
  if (marks_.size() >= kMostMarks) note_marks();
}

// Neither loop is woken early: an interrupted sleep costs an exception, too much for frequent
// events.
Task<void> RunStore::commit_runs() {
  for (;;) {
    if (runs_.empty()) co_await runs_event_.wait();
    if (next_commit_ > clock_.steady()) co_await clock_.sleep_until(next_commit_);
    commit();
  }
}

Task<void> RunStore::commit_marks() {
  for (;;) {
    if (marks_.empty()) co_await marks_event_.wait();
    const SteadyTime due = first_mark_ + kMarkPatience * options_.group;
    if (due > clock_.steady()) {
      co_await clock_.sleep_until(due);  // by then these may be written, and others added
    } else {
      note_marks();
    }
  }
}

void RunStore::commit() {
  // Marks first, since they need no sync: while the journal starts to write them, the runs queue up
  // for one sync.
  note_marks();
  if (runs_.empty()) return;
  next_commit_ = clock_.steady() + options_.group;
  for (Writing& run : std::exchange(runs_, {})) append(std::move(run));
}

void RunStore::note_marks() {
  for (Writing& mark : std::exchange(marks_, {})) {
    auto shared = std::make_shared<Writing>(std::move(mark));
    journal_->note(shared->text,
                   [this, shared](const Error& error) { failed(std::move(*shared), error); });
  }
}

void RunStore::append(Writing writing) {
  auto shared = std::make_shared<Writing>(std::move(writing));
  journal_->append(shared->text, [this, shared](Result<JournalPosition> at) {
    if (!at) return failed(std::move(*shared), at.error());
    metrics_.store_failing.set(unwritten_.empty() ? 0 : 1);
    metrics_.store_bytes.set(static_cast<double>(journal_->bytes()));
    if (shared->done) shared->done(*at);
  });
}

void RunStore::failed(Writing writing, const Error& error) {
  const bool was_failing = metrics_.store_failing.value() != 0;
  metrics_.store_failing.set(1);
  if (!was_failing && writing.run && on_failing_) on_failing_(*writing.run, error);
  log_.write(log::Level::error, "servo", "cannot write to the store; runs wait in memory",
             {{"directory", options_.directory}, {"error", error}});
  unwritten_.push_back(std::move(writing));
  failed_event_.notify();
}

Task<void> RunStore::retry() {
  Backoff backoff({.first = 1s, .limit = 30s, .jitter = 0.2});
  for (;;) {
    if (unwritten_.empty()) {
      backoff.reset();
      co_await failed_event_.wait();
    }
    co_await clock_.sleep(backoff.next());
    // The journal fails a whole batch if one record fails: write one first to see if writing works.
    if (unwritten_.empty()) continue;
    Writing first = std::move(unwritten_.front());
    unwritten_.pop_front();
    auto at = co_await journal_->write(first.text);
    if (!at) {
      unwritten_.push_front(std::move(first));
      continue;
    }
    if (first.done) first.done(*at);
    std::deque<Writing> rest = std::exchange(unwritten_, {});
    // Marks too: only a successful append shows that writing works.
    for (Writing& writing : rest) append(std::move(writing));
    if (rest.empty()) metrics_.store_failing.set(0);
  }
}

bool RunStore::take_refused() {
  if (!unwritten_.empty()) return false;
  return std::exchange(refused_, false);
}

Task<Result<std::vector<StoredRun>>> RunStore::load(std::vector<JournalPosition> places) {
  auto work = [directory = options_.directory, places = std::move(places)] {
    return read_at(directory, places);
  };
  PLIM_CO_TRY(std::vector<StoredRun> runs, co_await readers_->run(std::move(work)));
  co_return index_.with_states(std::move(runs));
}

Task<Result<RunPage>> RunStore::page(RunQuery query) {
  auto work = [directory = options_.directory, query = std::move(query)] {
    return read_page(directory, query);
  };
  PLIM_CO_TRY(RunPage out, co_await readers_->run(std::move(work)));
  out.runs = index_.with_states(std::move(out.runs));
  co_return out;
}

Task<Result<std::vector<StoredRun>>> RunStore::of_pod(std::string uid) {
  return load(index_.of_pod(uid));
}

Task<void> RunStore::forget_hourly() {
  for (;;) {
    co_await clock_.sleep(1h);
    co_await forget_old();
  }
}

Task<void> RunStore::forget_old() {
  for (;;) {
    auto gone = co_await forget_oldest();
    if (!gone)
      log::warn("servo", "cannot delete old runs from the store", {{"error", gone.error()}});
    if (!gone || !*gone) break;
  }
}

// Removes whole segments, oldest first. Before that, writes keys that must stay known again.
Task<Result<bool>> RunStore::forget_oldest() {
  commit();  // write marks before their runs are removed
  PLIM_CO_TRY(const std::vector<std::uint64_t> segments, list_segments(options_.directory));
  if (segments.size() < 2) co_return false;
  const std::uint64_t oldest = segments.front();
  if (index_.has_unsent_up_to(oldest)) co_return false;
  const WallTime now = clock_.wall();
  const RunIndex::Old old = index_.up_to(oldest, [&](const std::string& key, WallTime observed) {
    return observed > now - options_.key_memory || (is_present_ && is_present_(uid_of_key(key)));
  });
  std::uint64_t bytes = 0;
  for (const std::uint64_t segment : segments) {
    std::error_code ignored;
    const auto size =
        std::filesystem::file_size(run_files(options_.directory).path_of(segment), ignored);
    if (!ignored) bytes += size;
  }
  if (old.newest > now - options_.retention && bytes <= options_.max_bytes) co_return false;
  if (!old.needed.empty()) {
    std::string text = encode_entry(KnownEntry{.keys = old.needed, .at = now});
    PLIM_CO_TRY(const JournalPosition at, co_await journal_->write(std::move(text)));
    index_.keep_keys(old.needed, at);
  }
  index_.forget(old.others);
  journal_->remove_before(oldest + 1);
  // The journal removes segments asynchronously: a later write completes after the removal.
  std::string text = encode_entry(KnownEntry{.keys = {}, .at = now});
  PLIM_CO_CHECK(co_await journal_->write(std::move(text)));
  std::error_code ignored;
  co_return !std::filesystem::exists(run_files(options_.directory).path_of(oldest), ignored);
}

}  // namespace plim::servo
