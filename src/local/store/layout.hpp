// The files in the directory of a store: the log and its lock; snapshots have their own names.
#pragma once

#include <cstdint>
#include <string>

#include "base/files.hpp"
#include "base/journal_files.hpp"

namespace plim::local::store {

inline JournalFiles log_files(std::string directory, std::uint64_t first_segment) {
  return {.directory = std::move(directory),
          .kind = record_kind("STOR"),
          .version = 1,
          .first_segment = first_segment};
}

inline Result<FileLock> lock_store(const std::string& directory) {
  return FileLock::acquire(directory + "/lock");
}

}  // namespace plim::local::store
