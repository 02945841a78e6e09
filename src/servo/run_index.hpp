// Index of the servo's store: position and state of each run. Pure logic.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/journal_files.hpp"
#include "servo/run_files.hpp"

namespace plim::servo {

class RunIndex {
 public:
  // Adds a record of the journal; call in the order in which they were written.
  void add(JournalPosition at, StoreEntry entry);
  // Does nothing if the key is known already.
  void add_run(const std::string& key, JournalPosition at, WallTime observed, SendState state);
  void mark(const std::string& key, SendState state, std::string why);

  bool knows(const std::string& key) const { return entries_.contains(key); }

  std::size_t unsent() const { return unsent_.size(); }

  // Positions of unsent runs after `after`, oldest first, at most `limit`.
  std::vector<JournalPosition> unsent_after(JournalPosition after, std::size_t limit) const;
  // Whether this segment of the journal or an earlier one has an unsent run.
  bool has_unsent_up_to(std::uint64_t segment) const;
  std::vector<JournalPosition> of_pod(const std::string& uid) const;
  // Without runs that are written but not synced yet.
  std::vector<StoredRun> with_states(std::vector<StoredRun> runs) const;

  // Keys of this segment and earlier ones, by whether the key must stay known.
  struct Old {
    WallTime newest{};  // when the last of them was observed
    std::vector<std::string> needed, others;
  };

  using IsNeeded = std::function<bool(const std::string& key, WallTime observed)>;
  Old up_to(std::uint64_t segment, const IsNeeded& is_needed) const;
  // The keys were written again at `at`; the caller removes their runs next.
  void keep_keys(const std::vector<std::string>& keys, JournalPosition at);
  void forget(const std::vector<std::string>& keys);

 private:
  struct Entry {
    JournalPosition at;
    WallTime observed;
    SendState state = SendState::kept;
    bool key_only = false;
    std::string why = {};
  };

  std::map<std::string, Entry> entries_;           // by key, so by uid
  std::map<JournalPosition, std::string> unsent_;  // keys
};

}  // namespace plim::servo
