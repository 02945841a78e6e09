#include "flow/sqlite.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sqlite3.h>
#include <utility>

#include <fmt/format.h>

#include "base/fd.hpp"

namespace plim::flow {
namespace {

Error error_of(sqlite3* database, std::string_view what) {
  int code = database != nullptr ? sqlite3_errcode(database) : SQLITE_NOMEM;
  // A full or failing disk may recover; a damaged file does not.
  Code ours = code == SQLITE_FULL || code == SQLITE_IOERR || code == SQLITE_BUSY ? Code::unavailable
              : code == SQLITE_NOTADB || code == SQLITE_CORRUPT                  ? Code::invalid
              : code == SQLITE_CANTOPEN                                          ? Code::not_found
                                                                                 : Code::internal;
  return fail(ours, fmt::format("{}: {}", what, sqlite3_errmsg(database)));
}

}  // namespace

Statement::~Statement() {
  sqlite3_finalize(handle_);
}

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_), handle_(std::exchange(other.handle_, nullptr)) {}

Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(database_, other.database_);
  std::swap(handle_, other.handle_);
  return *this;
}

Statement& Statement::bind(std::string_view text) {
  // SQLite would bind a null pointer as NULL, even with size 0.
  const char* bytes = text.data() != nullptr ? text.data() : "";
  sqlite3_bind_text64(handle_, ++bound_, bytes, text.size(), SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind(std::int64_t number) {
  sqlite3_bind_int64(handle_, ++bound_, number);
  return *this;
}

Statement& Statement::bind_null() {
  sqlite3_bind_null(handle_, ++bound_);
  return *this;
}

Result<void> Statement::run(const std::function<void(Statement&)>& row) {
  int code = sqlite3_step(handle_);
  while (code == SQLITE_ROW) {
    if (row) row(*this);
    code = sqlite3_step(handle_);
  }
  Result<void> out;
  if (code != SQLITE_DONE) out = error_of(database_, "ledger");
  sqlite3_reset(handle_);
  bound_ = 0;
  return out;
}

std::string Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(handle_, column))};
}

std::int64_t Statement::number(int column) const {
  return sqlite3_column_int64(handle_, column);
}

Result<Database> Database::open(const std::string& path) {
  // Records may be confidential. SQLite gives its other files the same mode.
  Fd made(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!made) return fail_errno(errno, fmt::format("cannot open {}", path));
  made.reset();
  sqlite3* handle = nullptr;
  int code =
      sqlite3_open_v2(path.c_str(), &handle,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  Database out(handle);
  if (code != SQLITE_OK) return error_of(handle, path);
  sqlite3_busy_timeout(handle, 5000);
  auto ready = out.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;");
  if (!ready) return ready.error().with_context(path);
  return out;
}

Database::~Database() {
  sqlite3_close_v2(handle_);
}

Result<void> Database::execute(const std::string& sql) {
  if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return error_of(handle_, "ledger");
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* handle = nullptr;
  if (sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                         SQLITE_PREPARE_PERSISTENT, &handle, nullptr) != SQLITE_OK)
    return error_of(handle_, "ledger");
  return Statement(handle_, handle);
}

}  // namespace plim::flow
