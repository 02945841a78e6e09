// The durable record of an execution and its slices: one SQLite file in the state directory. When a
// call returns, its changes are on disk. Belongs to one thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "flow/execution_status.hpp"
#include "flow/slice.hpp"
#include "flow/sqlite.hpp"

namespace plim::flow {

struct ExecutionRow {
  std::string ex_id;
  ExecutionStatus status = ExecutionStatus::pending;
  std::string failure;
  json::object job;  // with defaults
  std::uint64_t duplicates = 0;
  std::string directory = {};  // base of relative paths: where the run began; "": unknown
};

// All changes of one turn of the controller, written in one transaction.
struct LedgerChanges {
  struct Started {
    SliceKey key;
    std::uint32_t attempt = 0;
    std::string worker;
  };

  struct Cursor {
    std::uint32_t slicer = 0;
    json::value position;
    bool done = false;
  };

  std::vector<Slice> created = {};
  std::vector<Started> started = {};
  std::vector<SliceReport> finished = {};  // completed or failed
  std::vector<Cursor> cursors = {};
  std::optional<std::uint64_t> duplicates = {};
  std::optional<ExecutionStatus> status = {};

  bool empty() const {
    return created.empty() && started.empty() && finished.empty() && cursors.empty() &&
           !duplicates && !status;
  }
};

// Sums over the slices of an execution.
struct LedgerCounts {
  std::uint64_t slices = 0, completed = 0, failed = 0;
  std::uint64_t records_in = 0, records_out = 0, bytes = 0;
  std::uint64_t redispatched = 0;
};

struct FailedSlice {
  Slice slice;
  std::string error;
  std::uint32_t retries = 0;
};

class Ledger {
 public:
  // The clock must outlive the ledger.
  static Result<Ledger> open(const std::string& path, const Clock& clock);

  Result<void> begin(const ExecutionRow& row);
  Result<std::optional<ExecutionRow>> latest();
  Result<void> set_status(const std::string& ex_id, ExecutionStatus status,
                          std::string_view failure = {});
  // Applies all changes or none.
  Result<void> apply(const std::string& ex_id, const LedgerChanges& changes);

  Result<LedgerCounts> counts(const std::string& ex_id);
  // Slices that are neither completed nor failed, in the order of their creation.
  Result<std::vector<Slice>> open_slices(const std::string& ex_id);
  Result<std::vector<FailedSlice>> failed_slices(const std::string& ex_id, unsigned limit);
  // Makes failed slices pending again.
  Result<void> reopen_failed(const std::string& ex_id);
  Result<std::vector<LedgerChanges::Cursor>> cursors(const std::string& ex_id);
  Result<std::uint64_t> last_order(const std::string& ex_id, std::uint32_t slicer);

 private:
  Ledger(Database database, const Clock& clock) : database_(std::move(database)), clock_(&clock) {}

  std::int64_t now() const;

  static Result<void> add_columns(Database& database);
  Result<void> write(const std::string& ex_id, const LedgerChanges& changes);

  Database database_;
  const Clock* clock_;
  Statement insert_, start_, finish_, cursor_, begin_, commit_, rollback_;
};

}  // namespace plim::flow
