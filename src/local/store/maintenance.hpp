// Implements `plimsoll store dump|verify|compact` for a cluster that is not running.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/journal_files.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "local/store/entry.hpp"
#include "local/store/store.hpp"

namespace plim::local::store {

struct StoreReport {
  Revision revision = 0;
  std::size_t entries = 0;
  std::uint64_t live_bytes = 0;
  Revision snapshot = 0;  // its revision; 0 if there is none
  // Torn end: the next start cuts it off. Damage: the store does not start;
  // repair_store(damage->at) would reset it to `revision`.
  JournalScan log;
};

// Reads everything and changes nothing. Fails if cutting the log could not repair the store.
Result<StoreReport> verify_store(const std::string& directory);

// Drops all writes of the log from `at` on; the part that is cut off is kept as *.cut.
Result<void> repair_store(const std::string& directory, JournalPosition at);

// The newest entries below `prefix` in order, as far as the log is valid. Values are as stored; the
// caller must hide secrets when printing them.
Result<StoreReport> dump_store(const std::string& directory, std::string_view prefix,
                               const std::function<void(const Entry&)>& visit);

// Writes a snapshot and drops the log.
Task<Result<StoreStats>> compact_store(std::string directory);

}  // namespace plim::local::store
