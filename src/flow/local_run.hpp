// A run without a server: a state directory with the ledger in it, and one execution.
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

// One process at a time holds a directory: Code::already_exists for a second one. The clock
// outlives the run.
class LocalRun {
 public:
  // A new execution. Code::already_exists too when the directory has one that is not finished.
  // Nothing is begun, nor a directory made, when the job's input is not there.
  static Result<LocalRun> begin(Clock& clock, const std::string& directory, Job job);
  // The last one of the directory: what is not completed runs, failed slices again. The process
  // goes to where the run began: paths of the job, and of the programs it runs, mean that place.
  static Result<LocalRun> resume(Clock& clock, const std::string& directory);

  const ExecutionRow& row() const { return row_; }

  const Job& job() const { return *job_; }

  bool is_completed() const { return row_.status == ExecutionStatus::completed; }

  // The one controller, not yet started; lives no longer than this.
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
