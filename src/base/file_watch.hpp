// Reports changes of files, using inotify.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"

namespace plim {

// Watches files through their directories, so it sees replacement by rename, Kubernetes' swaps of
// the ..data link, and deletion and re-creation of the file or its directory. Files and directories
// need not exist yet. Does not see that a directory further up is renamed or that a link to it
// changes. Belongs to one loop.
class FileWatch {
 public:
  struct Options {
    // Changes within this time are reported as one.
    Nanos settle = std::chrono::milliseconds(50);
  };

  static Result<std::unique_ptr<FileWatch>> open(const Executor& loop,
                                                 std::vector<std::string> paths,
                                                 Clock& clock = system_clock());
  static Result<std::unique_ptr<FileWatch>> open(const Executor& loop,
                                                 std::vector<std::string> paths, Options options,
                                                 Clock& clock = system_clock());
  ~FileWatch();
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

  // The paths that were changed, created or removed since open() or the last return; all paths if
  // the kernel's queue overflowed. One caller at a time.
  Task<std::vector<std::string>> next();

 private:
  struct Impl;
  explicit FileWatch(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace plim
