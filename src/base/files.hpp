// Files read and written whole. All descriptors are close-on-exec; errors name the path.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <sys/types.h>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace plim {

constexpr std::size_t kDefaultFileLimit = std::size_t{16} << 20;

// Works for files of /proc and /sys too, whose size is not known before. Larger than `limit`: an
// error, Code::too_large.
Result<std::string> read_file(const std::string& path, std::size_t limit = kDefaultFileLimit);

struct WriteOptions {
  mode_t mode = 0600;  // exactly this, whatever the umask
  bool sync = true;    // off for files that may vanish in a crash
};

// Replaces the file in one step: readers see the old or the new content, and after a crash one of
// both is there. A symbolic link is replaced, not followed.
Result<void> write_file(const std::string& path, std::string_view content,
                        WriteOptions options = {});
// Overwrites in place, for files of /proc, /sys and cgroups, which cannot be replaced. One
// write(2).
Result<void> write_existing_file(const std::string& path, std::string_view content);

// With its parents. Fine if it is there already; then its mode stays.
Result<void> make_directories(const std::string& path, mode_t mode = 0755);
// A file name is on disk only when its directory is.
Result<void> sync_directory(const std::string& path);
// Fine if it is not there.
Result<void> remove_file(const std::string& path);

// Holds a lock file with our pid in it until destroyed or the process ends, however it ends. The
// file stays: removing it would let two processes lock two different files of the same name.
class FileLock {
 public:
  // Code::already_exists when another process holds it; the message has that one's pid.
  static Result<FileLock> acquire(const std::string& path);

 private:
  explicit FileLock(Fd fd) : fd_(std::move(fd)) {}

  Fd fd_;
};

}  // namespace plim
