// A run without a server: a state directory with the ledger, and one execution.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/files.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "flow/controller.hpp"
#include "flow/job.hpp"
#include "flow/ledger.hpp"

namespace plim::flow {

// Only one process can use a directory: a second one gets Code::already_exists. The clock must
// outlive the run.
class LocalRun {
 public:
  // Starts a new execution. Fails with Code::already_exists if the directory has an unfinished one.
  // If the job's input does not exist, it fails before it creates anything.
  static Result<LocalRun> begin(Clock& clock, const std::string& directory, Job job);
  // Continues the last execution of the directory and runs failed slices again. Changes the working
  // directory to that of the first start, because relative paths in the job refer to it.
  static Result<LocalRun> resume(Clock& clock, const std::string& directory);

  const ExecutionRow& row() const { return row_; }

  const Job& job() const { return *job_; }

  bool is_completed() const { return row_.status == ExecutionStatus::completed; }

  // Creates the controller, which is not started yet. This object must outlive it. Call it once.
  std::unique_ptr<Controller> controller(const Executor& loop, ControllerSettings settings,
                                         std::optional<std::uint64_t> limit, Observer observer);

 private:
  LocalRun(Clock& clock, FileLock lock, std::unique_ptr<Ledger> ledger)
      : clock_(&clock), lock_(std::move(lock)), ledger_(std::move(ledger)) {}

  static Result<LocalRun> open(Clock& clock, const std::string& directory);

  Clock* clock_;
  FileLock lock_;
  std::unique_ptr<Ledger> ledger_;
  ExecutionRow row_;
  std::unique_ptr<Job> job_;
  std::optional<SliceSource> source_;
};

}  // namespace plim::flow
