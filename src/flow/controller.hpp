// Runs one execution from its first slice to its last. Asks the slicers for slices, assigns them to
// workers, and writes every step to the ledger before acting on it.
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

// Callbacks that show a run. Called on its loop.
struct Observer {
  // After every turn of the controller; the observer decides how often to draw.
  std::function<void(const RunProgress&)> progress = [](const RunProgress&) {};
  std::function<void(std::string_view)> print = [](std::string_view) {};       // output of `stdout`
  std::function<void(const std::string&)> notice = [](const std::string&) {};  // for the user
};

// Belongs to one loop that runs nothing else: commits of the ledger block the loop until the disk
// has them, because no slice may be assigned before its row is written.
class Controller {
 public:
  Controller(const Executor& loop, Clock& clock, Ledger& ledger, ExecutionRow row, const Job& job,
             SliceSource source, ControllerSettings settings, Observer observer);

  // Returns the last state; its status is completed, failed or stopped.
  Task<Result<RunProgress>> run();
  // Creates no new slices. Slices that are running may finish.
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
  std::string token_;  // distinguishes workers of this run from those of an earlier one

  LedgerChanges changes_;                            // not yet on disk
  std::vector<Dispatcher::Assignment> assignments_;  // to send when the changes are on disk
  std::vector<Dispatcher::Order> orders_;
  std::string printed_;

  RunProgress progress_;
  Rate slice_rate_, record_rate_, byte_rate_;
  SteadyTime start_;
  SteadyTime last_turn_;
  double mean_micros_ = 0;
  unsigned deaths_in_a_row_ = 0;
  std::string never_joined_;  // how the last worker ended that left before it joined
  bool stopping_ = false;
  std::optional<SteadyTime> stop_deadline_;
  std::string failure_;
  bool storage_waits_ = false;
  bool news_ = false;
  Event changed_;
};

}  // namespace plim::flow
