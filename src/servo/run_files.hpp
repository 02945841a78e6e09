// The format of the servo's store on disk, and functions that read it. run_store.hpp writes it.
//
// A journal (base/journal.hpp) of three kinds of JSON records:
//   {"kind":"run","send":true,"run":{…}}                       a run has ended
//   {"kind":"mark","key":"…","state":"sent","at":"…"}          its new state
//   {"kind":"known","keys":["…"],"at":"…"}                     keys of runs that were deleted
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.hpp"
#include "base/journal_files.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "loop/run_record.hpp"

namespace plim::servo {

JournalFiles run_files(std::string directory);

enum class SendState { kept, unsent, sent, dead };  // kept: not meant to be sent

std::string_view name_of(SendState state);

struct RunEntry {
  loop::RunRecord run;
  bool send = false;
};

struct MarkEntry {
  std::string key;
  SendState state = SendState::sent;
  std::string why = {};  // why it is dead
  WallTime at{};
};

struct KnownEntry {
  std::vector<std::string> keys;
  WallTime at{};
};

using StoreEntry = std::variant<RunEntry, MarkEntry, KnownEntry>;

std::string encode_entry(const StoreEntry& entry);
Result<StoreEntry> decode_entry(std::string_view record);

struct StoredRun {
  loop::RunRecord run;
  JournalPosition at{};
  SendState state = SendState::kept;
  std::string why = {};
};

// The record of a run with its state, as the API returns it.
json::object stored_to_json(const StoredRun& run);

struct RunQuery {
  std::string app = {}, ns = {}, pod = {};  // "": any
  std::optional<WallTime> since = {};       // observed at or after this time
  std::size_t limit = 100;
  std::optional<JournalPosition> before = {};  // where the previous page ended

  bool matches(const loop::RunRecord& run) const;
};

struct RunPage {
  std::vector<StoredRun> runs;          // newest first
  std::optional<JournalPosition> next;  // `before` of the next page; none: this is the last
};

std::string format_position(JournalPosition at);  // "3.4711", opaque to users
Result<JournalPosition> parse_position(std::string_view text);

// Newest first. Reads one segment after the other, blocking, and does not set the states. Files
// that a running servo appends to or removes meanwhile are not an error.
Result<RunPage> read_page(const std::string& directory, const RunQuery& query);
// The runs at these positions, without those that were deleted.
Result<std::vector<StoredRun>> read_at(const std::string& directory,
                                       std::vector<JournalPosition> wanted);
// Like read_page, but with states: for commands that read the files without a running servo.
Result<RunPage> read_store(const std::string& directory, const RunQuery& query);

}  // namespace plim::servo
