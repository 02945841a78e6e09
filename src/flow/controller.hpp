// One execution from its first slice to its last: asks the slicers, gives slices to workers, writes
// everything down before it acts on it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "flow/dispatcher.hpp"
#include "flow/job.hpp"
#include "flow/ledger.hpp"
#include "flow/progress.hpp"
#include "flow/slice_source.hpp"
#include "flow/worker_crew.hpp"

namespace plim::flow {

struct ControllerSettings {
  WorkerCrew::Settings crew;
  Nanos lease = std::chrono::seconds(30);
  Nanos shutdown_timeout = std::chrono::seconds(10);
};

// Who watches a run. Called on its loop.
struct Observer {
  // After every turn; whoever draws decides how often.
  std::function<void(const RunProgress&)> progress = [](const RunProgress&) {};
  std::function<void(std::string_view)> print = [](std::string_view) {};  // of the operation stdout
  std::function<void(const std::string&)> notice = [](const std::string&) {};  // a line for people
};

// Belongs to one loop, which has nothing else to do: the ledger's commits wait for the disk on it,
// since no slice may be given out before its row is there.
class Controller {
 public:
  Controller(const Executor& loop, Clock& clock, Ledger& ledger, ExecutionRow row, const Job& job,
             SliceSource source, ControllerSettings settings, Observer observer);

  // The last state; its status is completed, failed or stopped.
  Task<Result<RunProgress>> run();
  // No new slices; those that run may finish.
  void stop();

 private:
  Result<void> load();
  void expire_leases();
  Result<void> plan();
  void take_frame(WorkerNumber worker, const Frame& frame);
  void take_report(WorkerNumber worker, SliceReport report);
  void take_leave(WorkerNumber worker, const std::string& how);
  void finish(SliceReport report);
  bool write_down();
  void act();
  bool is_over() const;

  bool may_work() const { return !stopping_ && failure_.empty(); }

  std::size_t depth() const;
  Task<void> wait_for_news();
  Result<void> settle();
  void wake();
  void update_progress();
  std::string worker_name(WorkerNumber worker) const;

  Clock& clock_;
  Ledger& ledger_;
  ExecutionRow row_;
  std::string job_text_;
  SliceSource source_;
  ControllerSettings settings_;
  Observer observer_;
  Dispatcher dispatcher_;
  WorkerCrew crew_;
  std::string token_;  // tells workers of this run from those of an earlier one

  LedgerChanges changes_;                            // not yet on disk
  std::vector<Dispatcher::Assignment> assignments_;  // to send once they are
  std::vector<Dispatcher::Order> orders_;
  std::string printed_;

  RunProgress progress_;
  Rate slice_rate_, record_rate_, byte_rate_;
  SteadyTime start_;
  SteadyTime last_turn_;
  double mean_micros_ = 0;
  unsigned deaths_in_a_row_ = 0;
  std::string never_joined_;  // how the last one ended that left before it joined
  bool stopping_ = false;
  std::optional<SteadyTime> stop_deadline_;
  std::string failure_;
  bool storage_waits_ = false;
  bool news_ = false;
  Event changed_;
};

}  // namespace plim::flow
