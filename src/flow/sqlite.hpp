// The part of SQLite that Flow uses, without SQLite's header. Belongs to one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace plim::flow {

// A prepared statement for repeated use: bind parameters from left to right, then run it.
class Statement {
 public:
  Statement() = default;
  ~Statement();
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&& other) noexcept;

  // The text must stay alive until the statement has run.
  Statement& bind(std::string_view text);
  Statement& bind(std::int64_t number);

  Statement& bind(std::uint64_t number) { return bind(static_cast<std::int64_t>(number)); }

  Statement& bind_null();
  // Runs the statement to its end and resets it. Calls `row` for each row.
  Result<void> run(const std::function<void(Statement&)>& row = {});

  std::string text(int column) const;
  std::int64_t number(int column) const;

 private:
  friend class Database;

  Statement(sqlite3* database, sqlite3_stmt* handle) : database_(database), handle_(handle) {}

  sqlite3* database_ = nullptr;
  sqlite3_stmt* handle_ = nullptr;
  int bound_ = 0;
};

class Database {
 public:
  // Uses a write-ahead log, synced at every commit. Creates the file if it does not exist.
  static Result<Database> open(const std::string& path);
  ~Database();

  Database(Database&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}

  Database& operator=(Database&& other) = delete;

  Result<void> execute(const std::string& sql);
  Result<Statement> prepare(std::string_view sql);

 private:
  explicit Database(sqlite3* handle) : handle_(handle) {}

  sqlite3* handle_ = nullptr;
};

}  // namespace plim::flow
