#include "flow/ledger.hpp"

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/text.hpp"

namespace plim::flow {
namespace {

// Documents are JSON text; columns exist for values that are queried. WITHOUT ROWID: the key is the
// order in which slices are made, so rows are appended and read in that order.
constexpr const char* kSchema = R"(
CREATE TABLE IF NOT EXISTS ex (
  ex_id TEXT PRIMARY KEY, status TEXT NOT NULL, failure TEXT NOT NULL DEFAULT '',
  job TEXT NOT NULL, duplicates INTEGER NOT NULL DEFAULT 0,
  created INTEGER NOT NULL, updated INTEGER NOT NULL,
  directory TEXT NOT NULL DEFAULT '') STRICT;
CREATE TABLE IF NOT EXISTS slices (
  ex_id TEXT NOT NULL, slicer_id INTEGER NOT NULL, slicer_order INTEGER NOT NULL,
  slice_id TEXT NOT NULL, request TEXT NOT NULL, state TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0, retry_count INTEGER NOT NULL DEFAULT 0,
  worker_id TEXT NOT NULL DEFAULT '', error TEXT,
  count_in INTEGER NOT NULL DEFAULT 0, count_out INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0, created INTEGER NOT NULL, updated INTEGER NOT NULL,
  PRIMARY KEY (ex_id, slicer_id, slicer_order)) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS slicers (
  ex_id TEXT NOT NULL, slicer_id INTEGER NOT NULL, position TEXT NOT NULL,
  done INTEGER NOT NULL, PRIMARY KEY (ex_id, slicer_id)) STRICT, WITHOUT ROWID;
)";

std::int64_t nanos(WallTime time) {
  return time.time_since_epoch().count();
}

Slice slice_of(const Statement& row) {
  return {.key = {.slicer = static_cast<std::uint32_t>(row.number(0)),
                  .order = static_cast<std::uint64_t>(row.number(1))},
          .id = row.text(2),
          .request = row.text(3),
          .created = WallTime(Nanos(row.number(4))),
          .attempt = static_cast<std::uint32_t>(row.number(5))};
}

constexpr std::string_view kSliceColumns =
    "slicer_id, slicer_order, slice_id, request, created, attempts";

}  // namespace

std::int64_t Ledger::now() const {
  return nanos(clock_->wall());
}

Result<Ledger> Ledger::open(const std::string& path, const Clock& clock) {
  PLIM_TRY(Database database, Database::open(path));
  PLIM_CHECK(database.execute(kSchema));
  PLIM_CHECK(add_columns(database));
  Ledger out(std::move(database), clock);
  Database& db = out.database_;
  PLIM_TRY(out.insert_, db.prepare("INSERT INTO slices (ex_id, slicer_id, slicer_order, slice_id, "
                                   "request, state, created, updated) "
                                   "VALUES (?, ?, ?, ?, ?, 'pending', ?, ?)"));
  PLIM_TRY(out.start_, db.prepare("UPDATE slices SET state='start', attempts=?, worker_id=?, "
                                  "updated=? WHERE ex_id=? AND slicer_id=? AND slicer_order=?"));
  PLIM_TRY(out.finish_,
           db.prepare("UPDATE slices SET state=?, error=?, retry_count=?, count_in=?, count_out=?, "
                      "bytes=?, updated=? WHERE ex_id=? AND slicer_id=? AND slicer_order=?"));
  PLIM_TRY(out.cursor_, db.prepare("INSERT INTO slicers (ex_id, slicer_id, position, done) "
                                   "VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
                                   "position=excluded.position, done=excluded.done"));
  PLIM_TRY(out.begin_, db.prepare("BEGIN IMMEDIATE"));
  PLIM_TRY(out.commit_, db.prepare("COMMIT"));
  PLIM_TRY(out.rollback_, db.prepare("ROLLBACK"));
  return out;
}

// Adds the columns that ledgers of earlier versions do not have.
Result<void> Ledger::add_columns(Database& database) {
  PLIM_TRY(Statement query,
           database.prepare("SELECT 1 FROM pragma_table_info('ex') WHERE name='directory'"));
  bool there = false;
  PLIM_CHECK(query.run([&](Statement&) { there = true; }));
  if (there) return {};
  return database.execute("ALTER TABLE ex ADD COLUMN directory TEXT NOT NULL DEFAULT ''");
}

Result<void> Ledger::begin(const ExecutionRow& row) {
  PLIM_TRY(Statement insert,
           database_.prepare("INSERT INTO ex (ex_id, status, job, created, updated, directory) "
                             "VALUES (?, ?, ?, ?, ?, ?)"));
  std::string job = to_json(row.job);
  insert.bind(row.ex_id).bind(status_name(row.status)).bind(job).bind(now()).bind(now());
  return insert.bind(row.directory).run();
}

Result<std::optional<ExecutionRow>> Ledger::latest() {
  PLIM_TRY(Statement query, database_.prepare("SELECT ex_id, status, failure, job, duplicates, "
                                              "directory FROM ex ORDER BY rowid DESC LIMIT 1"));
  std::optional<ExecutionRow> out;
  std::string job, status;
  PLIM_CHECK(query.run([&](Statement& row) {
    out = ExecutionRow{.ex_id = row.text(0),
                       .failure = row.text(2),
                       .job = {},
                       .duplicates = static_cast<std::uint64_t>(row.number(4)),
                       .directory = row.text(5)};
    status = row.text(1);
    job = row.text(3);
  }));
  if (!out) return out;
  const auto known = parse_execution_status(status);
  if (!known)
    return fail(Code::invalid, fmt::format("the ledger has a status {}, which this version does "
                                           "not know",
                                           quote(status)));
  out->status = *known;
  PLIM_TRY(json::value value, parse_json(job, "job of the ledger"));
  if (!value.is_object()) return fail(Code::invalid, "the job in the ledger is not an object");
  out->job = std::move(value.as_object());
  return out;
}

Result<void> Ledger::set_status(const std::string& ex_id, ExecutionStatus status,
                                std::string_view failure) {
  PLIM_TRY(Statement update,
           database_.prepare("UPDATE ex SET status=?, failure=?, updated=? WHERE ex_id=?"));
  return update.bind(status_name(status)).bind(failure).bind(now()).bind(ex_id).run();
}

Result<void> Ledger::apply(const std::string& ex_id, const LedgerChanges& changes) {
  PLIM_CHECK(begin_.run());
  Result<void> written = write(ex_id, changes);
  if (written) written = commit_.run();
  // A commit that failed because the disk is full leaves the transaction open. Roll back, since the
  // caller retries the same changes.
  if (!written) (void)rollback_.run();
  return written;
}

Result<void> Ledger::write(const std::string& ex_id, const LedgerChanges& changes) {
  const std::int64_t time = now();
  for (const Slice& slice : changes.created)
    PLIM_CHECK(insert_.bind(ex_id)
                   .bind(std::uint64_t{slice.key.slicer})
                   .bind(slice.key.order)
                   .bind(slice.id)
                   .bind(slice.request)
                   .bind(nanos(slice.created))
                   .bind(time)
                   .run());
  for (const auto& started : changes.started)
    PLIM_CHECK(start_.bind(std::uint64_t{started.attempt})
                   .bind(started.worker)
                   .bind(time)
                   .bind(ex_id)
                   .bind(std::uint64_t{started.key.slicer})
                   .bind(started.key.order)
                   .run());
  for (const SliceReport& report : changes.finished) {
    const bool ok = report.outcome == Outcome::completed;
    finish_.bind(std::string_view(ok ? "completed" : "error"));
    if (ok)
      finish_.bind_null();
    else
      finish_.bind(report.error);
    PLIM_CHECK(finish_.bind(std::uint64_t{report.retries})
                   .bind(report.records_in)
                   .bind(report.records_out)
                   .bind(report.bytes)
                   .bind(time)
                   .bind(ex_id)
                   .bind(std::uint64_t{report.key.slicer})
                   .bind(report.key.order)
                   .run());
  }
  for (const auto& cursor : changes.cursors) {
    std::string position = to_json(cursor.position);
    PLIM_CHECK(cursor_.bind(ex_id)
                   .bind(std::uint64_t{cursor.slicer})
                   .bind(position)
                   .bind(std::int64_t{cursor.done})
                   .run());
  }
  if (changes.duplicates) {
    PLIM_TRY(Statement update, database_.prepare("UPDATE ex SET duplicates=? WHERE ex_id=?"));
    PLIM_CHECK(update.bind(*changes.duplicates).bind(ex_id).run());
  }
  if (changes.status) PLIM_CHECK(set_status(ex_id, *changes.status));
  return {};
}

Result<LedgerCounts> Ledger::counts(const std::string& ex_id) {
  PLIM_TRY(Statement query,
           database_.prepare("SELECT count(*), coalesce(sum(state='completed'),0), "
                             "coalesce(sum(state='error'),0), coalesce(sum(count_in),0), "
                             "coalesce(sum(count_out),0), coalesce(sum(bytes),0), "
                             "coalesce(sum(max(attempts-1,0)),0) FROM slices WHERE ex_id=?"));
  LedgerCounts out;
  PLIM_CHECK(query.bind(ex_id).run([&](Statement& row) {
    auto at = [&](int column) { return static_cast<std::uint64_t>(row.number(column)); };
    out = {.slices = at(0),
           .completed = at(1),
           .failed = at(2),
           .records_in = at(3),
           .records_out = at(4),
           .bytes = at(5),
           .redispatched = at(6)};
  }));
  return out;
}

Result<std::vector<Slice>> Ledger::open_slices(const std::string& ex_id) {
  PLIM_TRY(Statement query,
           database_.prepare(fmt::format("SELECT {} FROM slices WHERE ex_id=? AND state IN "
                                         "('pending','start') ORDER BY slicer_id, slicer_order",
                                         kSliceColumns)));
  std::vector<Slice> out;
  PLIM_CHECK(query.bind(ex_id).run([&](Statement& row) { out.push_back(slice_of(row)); }));
  return out;
}

Result<std::vector<FailedSlice>> Ledger::failed_slices(const std::string& ex_id, unsigned limit) {
  PLIM_TRY(Statement query,
           database_.prepare(fmt::format("SELECT {}, error, retry_count FROM slices WHERE ex_id=? "
                                         "AND state='error' LIMIT ?",
                                         kSliceColumns)));
  std::vector<FailedSlice> out;
  PLIM_CHECK(query.bind(ex_id).bind(std::uint64_t{limit}).run([&](Statement& row) {
    out.push_back({.slice = slice_of(row),
                   .error = row.text(6),
                   .retries = static_cast<std::uint32_t>(row.number(7))});
  }));
  return out;
}

Result<void> Ledger::reopen_failed(const std::string& ex_id) {
  PLIM_TRY(Statement update,
           database_.prepare("UPDATE slices SET state='pending', error=NULL WHERE ex_id=? AND "
                             "state='error'"));
  return update.bind(ex_id).run();
}

Result<std::vector<LedgerChanges::Cursor>> Ledger::cursors(const std::string& ex_id) {
  PLIM_TRY(Statement query,
           database_.prepare("SELECT slicer_id, position, done FROM slicers WHERE ex_id=?"));
  std::vector<LedgerChanges::Cursor> out;
  bool readable = true;
  PLIM_CHECK(query.bind(ex_id).run([&](Statement& row) {
    auto position = parse_json(row.text(1));
    readable = readable && position;
    out.push_back({.slicer = static_cast<std::uint32_t>(row.number(0)),
                   .position = position.value_or(json::value()),
                   .done = row.number(2) != 0});
  }));
  if (!readable) return fail(Code::invalid, "a slicer's position in the ledger is not JSON");
  return out;
}

Result<std::uint64_t> Ledger::last_order(const std::string& ex_id, std::uint32_t slicer) {
  PLIM_TRY(Statement query, database_.prepare("SELECT coalesce(max(slicer_order),0) FROM slices "
                                              "WHERE ex_id=? AND slicer_id=?"));
  std::uint64_t out = 0;
  PLIM_CHECK(query.bind(ex_id).bind(std::uint64_t{slicer}).run([&](Statement& row) {
    out = static_cast<std::uint64_t>(row.number(0));
  }));
  return out;
}

}  // namespace plim::flow
