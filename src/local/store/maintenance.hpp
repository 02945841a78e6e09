// What `plimsoll store dump|verify|compact` do with the store of a cluster that is not running.
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
  Revision snapshot = 0;  // its revision; 0: none
  // Torn: the next start cuts it off. Damage: the store does not start; repair_store(damage->at)
  // would bring it back to `revision`.
  JournalScan log;
};

// Reads everything and changes nothing. What cannot be repaired by cutting the log is an error.
Result<StoreReport> verify_store(const std::string& directory);

// Gives up all writes of the log from `at` on; what is cut off stays beside, as *.cut.
Result<void> repair_store(const std::string& directory, JournalPosition at);

// The newest entries below `prefix` in order, as far as the log is good. Values are as stored: who
// prints them hides what is secret.
Result<StoreReport> dump_store(const std::string& directory, std::string_view prefix,
                               const std::function<void(const Entry&)>& visit);

// Writes a snapshot and drops the log.
Task<Result<StoreStats>> compact_store(std::string directory);

}  // namespace plim::local::store
