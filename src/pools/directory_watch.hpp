// Watches directories by inotify, including directories that are created and removed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/task.hpp"

namespace plim::pools {

// For cgroups, whose names are not known in advance (base/file_watch.hpp watches files with known
// names). Belongs to one loop.
class DirectoryWatch {
 public:
  static Result<std::unique_ptr<DirectoryWatch>> open(const Executor& loop);
  ~DirectoryWatch();
  DirectoryWatch(const DirectoryWatch&) = delete;
  DirectoryWatch& operator=(const DirectoryWatch&) = delete;

  // Watches exactly these directories, without those that do not exist. True: some are new, so
  // earlier changes in them may have been missed.
  bool set(const std::vector<std::string>& directories);
  // Returns after an entry was created or removed since the last return.
  Task<void> next();

 private:
  struct Impl;
  explicit DirectoryWatch(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace plim::pools
