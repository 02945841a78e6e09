// Snapshots: the whole store in one file, so that the log before it can be deleted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "local/store/view.hpp"

namespace plim::local::store {

struct Snapshot {
  View view;
  std::uint64_t next_segment = 1;  // first segment of the log that is not in the snapshot
  std::uint64_t live_bytes = 0;
};

std::string snapshot_path(const std::string& directory, Revision revision);

// Writes a temporary file, syncs and renames it. Blocks; any thread. Returns the size of the file.
Result<std::uint64_t> write_snapshot(const std::string& directory, const View& view,
                                     std::uint64_t next_segment);
Result<Snapshot> read_snapshot(const std::string& path);

// Revisions of the snapshots in a directory, ascending.
Result<std::vector<Revision>> list_snapshots(const std::string& directory);
// The newest one, or an empty store. Fails if it is damaged: the log before it is gone.
Result<Snapshot> read_newest_snapshot(const std::string& directory);
// Removes snapshots older than `revision`, and unfinished files of a crash.
Result<void> remove_old_snapshots(const std::string& directory, Revision revision);

}  // namespace plim::local::store
