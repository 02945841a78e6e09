#include "flow/controller.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/random.hpp"
#include "flow/memory.hpp"

namespace plim::flow {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostQueued = 2000;
constexpr std::size_t kMadeAtOnce = 512;
constexpr std::size_t kMostPrefetched = 32;
constexpr auto kTick = 200ms;  // the longest time between two reports of progress
constexpr auto kStorageRetry = 1s;
constexpr auto kWorkersLeave = 5s;

Dispatcher::Options dispatcher_options(const Job& job, const ControllerSettings& settings) {
  return {.lease = settings.lease, .most_deaths = std::max(3u, job.max_retries + 1)};
}

}  // namespace

Controller::Controller(const Executor& loop, Clock& clock, Ledger& ledger, ExecutionRow row,
                       const Job& job, SliceSource source, ControllerSettings settings,
                       Observer observer)
    : clock_(clock),
      ledger_(ledger),
      row_(std::move(row)),
      job_text_(to_json(job.document)),
      source_(std::move(source)),
      settings_(std::move(settings)),
      observer_(std::move(observer)),
      dispatcher_(dispatcher_options(job, settings_)),
      crew_(
          loop, clock, settings_.crew,
          {.frame = [this](WorkerNumber worker, const Frame& frame) { take_frame(worker, frame); },
           .left = [this](WorkerNumber worker,
                          const std::string& how) { take_leave(worker, how); }}),
      token_(make_token(2)),
      changed_(loop) {}

std::string Controller::worker_name(WorkerNumber worker) const {
  return fmt::format("worker-{}-{}", token_, worker);
}

void Controller::wake() {
  news_ = true;
  changed_.notify();
}

void Controller::stop() {
  if (stopping_) return;
  stopping_ = true;
  stop_deadline_ = clock_.steady() + settings_.shutdown_timeout;
  if (dispatcher_.running() > 0)
    observer_.notice(
        fmt::format("stopping when the {} running slices are done, in at most {} s; a second "
                    "signal stops immediately",
                    dispatcher_.running(),
                    std::chrono::ceil<std::chrono::seconds>(settings_.shutdown_timeout).count()));
  wake();
}

Result<void> Controller::load() {
  PLIM_TRY(LedgerCounts counts, ledger_.counts(row_.ex_id));
  PLIM_TRY(auto cursors, ledger_.cursors(row_.ex_id));
  std::vector<std::uint64_t> last_orders;
  for (std::uint32_t i = 0; i < source_.slicers(); ++i) {
    PLIM_TRY(std::uint64_t last, ledger_.last_order(row_.ex_id, i));
    last_orders.push_back(last);
  }
  PLIM_CHECK(source_.resume(cursors, last_orders));
  PLIM_TRY(std::vector<Slice> open, ledger_.open_slices(row_.ex_id));
  for (Slice& slice : open) dispatcher_.add(std::move(slice));
  dispatcher_.count_from(counts.redispatched, row_.duplicates);
  progress_.slices_done = counts.completed;
  progress_.records_in = counts.records_in;
  progress_.records_out = counts.records_out;
  progress_.bytes = counts.bytes;
  return ledger_.set_status(row_.ex_id, ExecutionStatus::running);
}

// More than one slice per worker hides the round trip and the sync of the disk: the shorter the
// slices, the more. Long slices stay in the queue for the next free worker.
std::size_t Controller::depth() const {
  if (mean_micros_ <= 0) return 2;
  if (mean_micros_ > 500'000) return 1;
  auto wanted = static_cast<std::size_t>(4000 / mean_micros_) + 1;
  return 1 + std::min(wanted, kMostPrefetched);
}

void Controller::expire_leases() {
  const SteadyTime now = clock_.steady();
  // If the disk stalls or a signal stops this process, heartbeats arrive but are not read.
  const Nanos planned = storage_waits_ ? Nanos(kStorageRetry) : Nanos(kTick);
  if (now - last_turn_ > planned) dispatcher_.excuse(now - last_turn_ - planned);
  last_turn_ = now;
  std::optional<WorkerNumber> named;
  for (Dispatcher::Order& order : dispatcher_.expire(now)) {
    if (std::exchange(named, order.worker) != order.worker)
      observer_.notice(fmt::format("{} does not respond; other workers get its slices",
                                   worker_name(order.worker)));
    orders_.push_back(order);
  }
}

// Makes slices and assigns them. They are sent after they are in the ledger.
Result<void> Controller::plan() {
  expire_leases();
  if (!may_work() || storage_waits_) return {};
  if (!source_.done() && dispatcher_.queued() < kMostQueued) {
    const std::size_t before = changes_.created.size();
    PLIM_CHECK(source_.make(kMadeAtOnce, clock_.wall(), changes_));
    for (std::size_t i = before; i < changes_.created.size(); ++i)
      dispatcher_.add(changes_.created[i]);
  }
  while (auto assignment = dispatcher_.assign(depth())) {
    changes_.started.push_back({.key = assignment->slice.key,
                                .attempt = assignment->slice.attempt,
                                .worker = worker_name(assignment->worker)});
    assignments_.push_back(std::move(*assignment));
  }
  return {};
}

// False: the disk is full or unavailable. The changes are kept for the next try, and nothing is
// sent until then.
bool Controller::write_down() {
  if (dispatcher_.duplicates() != row_.duplicates) changes_.duplicates = dispatcher_.duplicates();
  if (!changes_.empty()) {
    auto written = ledger_.apply(row_.ex_id, changes_);
    if (!written) {
      if (!storage_waits_)
        observer_.notice(fmt::format("waiting for storage: {}", written.error().message));
      storage_waits_ = true;
      return false;
    }
    row_.duplicates = dispatcher_.duplicates();
    changes_ = {};
  }
  if (std::exchange(storage_waits_, false)) observer_.notice("storage is back");
  return true;
}

void Controller::act() {
  for (const Dispatcher::Order& order : orders_) crew_.send(order.worker, encode(order.cancel));
  for (Dispatcher::Assignment& assignment : assignments_)
    crew_.send(assignment.worker, encode(Dispatch{.slice = std::move(assignment.slice)}));
  orders_.clear();
  assignments_.clear();
  if (!printed_.empty()) observer_.print(std::exchange(printed_, {}));
}

void Controller::take_frame(WorkerNumber worker, const Frame& frame) {
  const SteadyTime now = clock_.steady();
  dispatcher_.heard_from(worker, now);
  if (frame.type == FrameType::hello) {
    auto hello = decode_hello(frame.payload);
    if (hello && hello->version == kProtocolVersion) {
      crew_.send(
          worker,
          encode(Welcome{.ex_id = row_.ex_id, .worker_id = worker_name(worker), .job = job_text_}));
      dispatcher_.join(worker, now);
    }
  } else if (frame.type == FrameType::heartbeat) {
    if (auto beat = decode_heartbeat(frame.payload))
      progress_.worker_rss = std::max(progress_.worker_rss, beat->rss);
    return;
  } else if (frame.type == FrameType::report) {
    if (auto report = decode_report(frame.payload)) take_report(worker, std::move(*report));
  } else if (frame.type == FrameType::broken) {
    auto message = decode_broken(frame.payload);
    failure_ = message ? *message : "a worker cannot run this job";
  }
  wake();
}

void Controller::take_report(WorkerNumber worker, SliceReport report) {
  deaths_in_a_row_ = 0;
  const auto micros = static_cast<double>(report.micros);
  mean_micros_ = mean_micros_ <= 0 ? std::max(micros, 1.0) : mean_micros_ * 0.95 + micros * 0.05;
  if (dispatcher_.report(worker, report, orders_) == Dispatcher::Verdict::accepted)
    finish(std::move(report));
}

void Controller::finish(SliceReport report) {
  ++progress_.slices_done;
  if (report.outcome == Outcome::completed) {
    progress_.records_in += report.records_in;
    progress_.records_out += report.records_out;
    progress_.bytes += report.bytes;
    printed_ += std::exchange(report.printed, {});
  } else {
    if (progress_.failed == 0) changes_.status = ExecutionStatus::failing;
    if (progress_.failed++ < 3)
      observer_.notice(fmt::format("slice {} of slicer {} failed after {} retries: {}",
                                   report.key.order, report.key.slicer, report.retries,
                                   report.error));
  }
  changes_.finished.push_back(std::move(report));
}

void Controller::take_leave(WorkerNumber worker, const std::string& how) {
  // Workers that fail to start for the same reason are reported once.
  const bool said = !dispatcher_.is_here(worker) && std::exchange(never_joined_, how) == how;
  for (Slice& slice : dispatcher_.leave(worker))
    finish({.key = slice.key,
            .attempt = slice.attempt,
            .outcome = Outcome::failed,
            .error = fmt::format("every worker that ran it died ({} attempts); the last one: {}",
                                 slice.attempt, how)});
  if (stopping_ || !failure_.empty() || is_over()) return;
  if (!said)
    observer_.notice(
        fmt::format("{} left: {}; another one takes its place", worker_name(worker), how));
  if (++deaths_in_a_row_ > 10 + 2 * settings_.crew.workers)
    failure_ = fmt::format("workers die before they finish a slice: {}", how);
  wake();
}

bool Controller::is_over() const {
  // A full disk must not delay a stop.
  if (stopping_ && clock_.steady() >= *stop_deadline_) return true;
  if (!changes_.empty()) return false;
  if (!failure_.empty()) return true;
  if (stopping_) return dispatcher_.running() == 0;
  return source_.done() && dispatcher_.open() == 0;
}

Task<void> Controller::wait_for_news() {
  SteadyTime until = clock_.steady() + (storage_waits_ ? Nanos(kStorageRetry) : Nanos(kTick));
  if (auto expiry = dispatcher_.next_expiry()) until = std::min(until, *expiry);
  while (!news_) {
    bool in_time = co_await changed_.wait_until(clock_, until);
    if (!in_time) break;
  }
  news_ = false;
}

void Controller::update_progress() {
  const SteadyTime now = clock_.steady();
  slice_rate_.update(now, progress_.slices_done);
  record_rate_.update(now, progress_.records_in);
  byte_rate_.update(now, progress_.bytes);
  progress_.status = progress_.failed > 0 ? ExecutionStatus::failing : ExecutionStatus::running;
  progress_.slices_total = source_.total();
  progress_.queued = dispatcher_.queued();
  progress_.redispatched = dispatcher_.redispatched();
  progress_.duplicates = dispatcher_.duplicates();
  progress_.workers = dispatcher_.workers();
  progress_.slices_per_second = slice_rate_.per_second();
  progress_.records_per_second = record_rate_.per_second();
  progress_.bytes_per_second = byte_rate_.per_second();
  progress_.elapsed = now - start_;
}

Result<void> Controller::settle() {
  std::string failure = failure_;
  progress_.status = ExecutionStatus::completed;
  if (!failure.empty() || progress_.failed > 0) progress_.status = ExecutionStatus::failed;
  if (failure.empty() && progress_.failed > 0)
    failure = fmt::format("execution: {} had {} slice failures during processing", row_.ex_id,
                          progress_.failed);
  // A stop has no effect if everything was already done.
  const bool unfinished = !source_.done() || dispatcher_.open() > 0;
  if (failure_.empty() && stopping_ && unfinished) progress_.status = ExecutionStatus::stopped;
  PLIM_CHECK(ledger_.set_status(row_.ex_id, progress_.status, failure));
  if (!failure.empty()) observer_.notice(failure);
  return {};
}

Task<Result<RunProgress>> Controller::run() {
  start_ = last_turn_ = clock_.steady();
  PLIM_CO_CHECK(load());
  crew_.start();
  Result<void> planned;
  while (true) {
    planned = plan();
    if (!planned) failure_ = planned.error().message;
    if (write_down()) act();
    update_progress();
    observer_.progress(progress_);
    if (is_over()) break;
    co_await wait_for_news();
  }
  co_await crew_.stop(kWorkersLeave);
  // Count reports that arrived while the workers ended.
  if (write_down()) act();
  update_progress();
  progress_.controller_rss = resident_bytes();
  PLIM_CO_CHECK(settle());
  co_return progress_;
}

}  // namespace plim::flow
