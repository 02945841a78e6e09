// The segments of a journal on disk: reads, checks and cuts them. journal.hpp writes records.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/record_file.hpp"
#include "base/result.hpp"

namespace plim {

// A position in a journal: the segment and the offset in it.
struct JournalPosition {
  std::uint64_t segment = 0;
  std::uint64_t offset = 0;
  auto operator<=>(const JournalPosition&) const = default;
};

// Where the records of a journal are and what kind they have.
struct JournalFiles {
  std::string directory;
  std::uint32_t kind = 0;     // as in RecordFile
  std::uint32_t version = 0;  // newest version of the content that the caller supports
  // The lowest segment that counts; older ones are leftovers. None: the lowest that exists.
  std::optional<std::uint64_t> first_segment = {};

  std::string path_of(std::uint64_t segment) const;
};

struct JournalTrouble {
  std::string file;
  JournalPosition at;
  std::string what;

  std::string describe() const;  // "/x/journal-000000000001.log, offset 40: …"
};

struct JournalScan {
  std::uint64_t segments = 0;
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  JournalPosition end;                   // after the last good record
  std::optional<RecordFile> last;        // header of the last segment; none if it is unreadable
  std::optional<JournalTrouble> torn;    // an unacknowledged write at the end
  std::optional<JournalTrouble> damage;  // acknowledged records are lost; the scan stopped here
};

using JournalVisitor = std::function<Result<void>(JournalPosition at, std::string_view record)>;

// The numbers of the segments in a directory, ascending.
Result<std::vector<std::uint64_t>> list_segments(const std::string& directory);

// Passes every good record to `visit`, oldest first, up to the end or the first damage.
Result<JournalScan> scan_journal(const JournalFiles& files, const JournalVisitor& visit);

// Drops everything from `at` on, so that the journal can be opened again. `at` must be the start or
// end of a record, and everything before it must be good. What is cut off is kept in files named
// *.cut.
Result<void> cut_journal(const JournalFiles& files, JournalPosition at);

// Creates the directory with its parents; all are on disk when this returns. Succeeds if it exists.
Result<void> make_durable_directory(const std::string& path);

}  // namespace plim
