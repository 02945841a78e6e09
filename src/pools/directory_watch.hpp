// Tells when something comes or goes in directories that themselves come and go, by inotify.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/task.hpp"

namespace plim::pools {

// For cgroups, whose names nobody knows beforehand (base/file_watch.hpp is for files that are
// known). Belongs to one loop.
class DirectoryWatch {
 public:
  static Result<std::unique_ptr<DirectoryWatch>> open(const Executor& loop);
  ~DirectoryWatch();
  DirectoryWatch(const DirectoryWatch&) = delete;
  DirectoryWatch& operator=(const DirectoryWatch&) = delete;

  // These and no others; those that are not there are left out. True: some are watched only now, so
  // what came before may have been missed.
  bool set(const std::vector<std::string>& directories);
  // Returns after something was made or removed since the last return.
  Task<void> next();

 private:
  struct Impl;
  explicit DirectoryWatch(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace plim::pools
