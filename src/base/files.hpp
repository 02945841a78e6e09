// Reads and writes whole files. All descriptors are close-on-exec; errors name the path.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <sys/types.h>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace plim {

constexpr std::size_t kDefaultFileLimit = std::size_t{16} << 20;

// Also works for files in /proc and /sys, whose size is not known in advance. Code::too_large if
// the file is larger than `limit`.
Result<std::string> read_file(const std::string& path, std::size_t limit = kDefaultFileLimit);

struct WriteOptions {
  mode_t mode = 0600;  // exactly this mode, whatever the umask is
  bool sync = true;    // off for files that may be lost in a crash
};

// Replaces the file atomically: readers see the old or the new content, and so does a start after a
// crash. Replaces a symbolic link, does not follow it.
Result<void> write_file(const std::string& path, std::string_view content,
                        WriteOptions options = {});
// Overwrites in place with one write(2), for files in /proc, /sys and cgroups, which cannot be
// replaced.
Result<void> write_existing_file(const std::string& path, std::string_view content);

// Creates the directory with its parents. If it exists, succeeds and keeps its mode.
Result<void> make_directories(const std::string& path, mode_t mode = 0755);
// Makes the names of files in the directory durable.
Result<void> sync_directory(const std::string& path);
// Succeeds if the file does not exist.
Result<void> remove_file(const std::string& path);

// Holds a lock file with our PID until destroyed or until the process ends in any way. The file
// stays: if it were removed, two processes could lock two different files of the same name.
class FileLock {
 public:
  // Code::already_exists if another process holds it; the message has the PID of that process.
  static Result<FileLock> acquire(const std::string& path);

 private:
  explicit FileLock(Fd fd) : fd_(std::move(fd)) {}

  Fd fd_;
};

}  // namespace plim
