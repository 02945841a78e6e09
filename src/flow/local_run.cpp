#include "flow/local_run.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "base/durable_directory.hpp"
#include "base/random.hpp"

namespace plim::flow {
namespace {

std::string ledger_path(const std::string& directory) {
  return directory + "/flow.db";
}

}  // namespace

Result<LocalRun> LocalRun::open(Clock& clock, const std::string& directory) {
  PLIM_TRY(FileLock lock, FileLock::acquire(directory + "/flow.lock"));
  PLIM_TRY(Ledger ledger, Ledger::open(ledger_path(directory), clock));
  return LocalRun(clock, std::move(lock), std::make_unique<Ledger>(std::move(ledger)));
}

Result<LocalRun> LocalRun::begin(Clock& clock, const std::string& directory, Job job) {
  PLIM_TRY(SliceSource source, SliceSource::open(job));
  PLIM_CHECK(make_durable_directories(directory, 0700));
  PLIM_TRY(LocalRun out, open(clock, directory));
  out.source_ = std::move(source);
  PLIM_TRY(auto latest, out.ledger_->latest());
  if (latest && latest->status != ExecutionStatus::completed)
    return fail(Code::already_exists,
                fmt::format("{} has execution {}, which is {}: continue it with --resume {}, or "
                            "use another directory",
                            directory, latest->ex_id, status_name(latest->status), directory));
  std::error_code unknown;
  out.row_ = {.ex_id = make_uuid(),
              .status = ExecutionStatus::pending,
              .failure = {},
              .job = job.document,
              .directory = std::filesystem::current_path(unknown).string()};
  PLIM_CHECK(out.ledger_->begin(out.row_));
  out.job_ = std::make_unique<Job>(std::move(job));
  return out;
}

Result<LocalRun> LocalRun::resume(Clock& clock, const std::string& directory) {
  // open() would create a new ledger in a mistyped directory.
  if (::access(ledger_path(directory).c_str(), F_OK) != 0)
    return fail(Code::not_found, fmt::format("{} has no ledger of a run", directory));
  PLIM_TRY(LocalRun out, open(clock, directory));
  PLIM_TRY(auto latest, out.ledger_->latest());
  if (!latest) return fail(Code::not_found, fmt::format("{} has no execution", directory));
  if (!latest->directory.empty() && ::chdir(latest->directory.c_str()) != 0)
    return fail_errno(errno,
                      fmt::format("cannot change to {}, where the run began", latest->directory));
  CheckedJob checked = check_job(json::value(latest->job), 1);
  if (!checked.job) return fail(Code::invalid, checked.describe_errors());
  PLIM_TRY(out.source_, SliceSource::open(*checked.job));
  PLIM_CHECK(out.ledger_->reopen_failed(latest->ex_id));  // in any status of the run
  out.row_ = std::move(*latest);
  out.job_ = std::make_unique<Job>(std::move(*checked.job));
  return out;
}

std::unique_ptr<Controller> LocalRun::controller(const Executor& loop, ControllerSettings settings,
                                                 std::optional<std::uint64_t> limit,
                                                 Observer observer) {
  if (limit) source_->limit(*limit);
  return std::make_unique<Controller>(loop, *clock_, *ledger_, row_, *job_, std::move(*source_),
                                      std::move(settings), std::move(observer));
}

}  // namespace plim::flow
