// Tells when files change, by inotify.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"

namespace plim {

// Watches files through their directories, so that replacement by rename, Kubernetes' swaps of the
// ..data link, deletion and re-creation of file or directory are all seen. Files and directories
// need not be there yet. Not seen: a directory further up being renamed or a link to it changed.
// Belongs to one loop.
class FileWatch {
 public:
  struct Options {
    // How long a burst may go on before it is reported as one change.
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

  // The paths that were changed, made or removed since open() or the last return. When the kernel
  // lost count, all of them. One caller at a time.
  Task<std::vector<std::string>> next();

 private:
  struct Impl;
  explicit FileWatch(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace plim
