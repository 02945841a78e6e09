#include "base/files.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/process.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "base/write_all.hpp"

namespace plim {
namespace {

Result<Fd> open_file(const std::string& path, int flags, mode_t mode = 0) {
  // A NUL byte would truncate the name.
  if (path.find('\0') != path.npos) return fail(Code::invalid, "file name contains a NUL byte");
  for (;;) {
    Fd fd(::open(path.c_str(), flags | O_CLOEXEC, mode));
    if (fd) return fd;
    if (errno != EINTR) return fail_errno(errno, fmt::format("cannot open {}", path));
  }
}

std::string parent_of(const std::string& path) {
  auto slash = path.find_last_of('/');
  if (slash == path.npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<void> write_new_file(const std::string& path, std::string_view content,
                            const WriteOptions& options) {
  // Must not be readable by others, not even for a moment.
  PLIM_TRY(Fd fd, open_file(path, O_WRONLY | O_CREAT | O_EXCL, 0600));
  PLIM_CHECK(write_all(fd.get(), content, path));
  if (::fchmod(fd.get(), options.mode) != 0)
    return fail_errno(errno, fmt::format("cannot set the mode of {}", path));
  if (options.sync && ::fsync(fd.get()) != 0)
    return fail_errno(errno, fmt::format("cannot sync {}", path));
  return {};
}

std::optional<pid_t> read_pid(int fd) {
  std::array<char, 32> text{};
  ssize_t n = ::pread(fd, text.data(), text.size(), 0);
  auto pid = parse_int<pid_t>(trim({text.data(), n > 0 ? static_cast<std::size_t>(n) : 0}));
  return pid ? std::optional(*pid) : std::nullopt;
}

}  // namespace

Result<void> write_all(int fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno(errno, fmt::format("cannot write {}", path));
    content.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  PLIM_TRY(Fd fd, open_file(path, O_RDONLY));
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return fail_errno(errno, fmt::format("cannot stat {}", path));
  std::string out;
  // One byte more than the size, so that the second read sees the end.
  out.resize(std::min(limit, static_cast<std::size_t>(std::max<off_t>(info.st_size, 4095))) + 1);
  std::size_t used = 0;
  for (;;) {
    if (used == out.size()) {
      if (used > limit)
        return fail(Code::too_large, fmt::format("{} is larger than {} bytes", path, limit));
      out.resize(std::min(limit, 2 * used) + 1);
    }
    ssize_t n = ::read(fd.get(), out.data() + used, out.size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno(errno, fmt::format("cannot read {}", path));
    if (n == 0) break;
    used += static_cast<std::size_t>(n);
  }
  if (used > limit)
    return fail(Code::too_large, fmt::format("{} is larger than {} bytes", path, limit));
  out.resize(used);
  return out;
}

Result<void> write_file(const std::string& path, std::string_view content, WriteOptions options) {
  // Write to a device or pipe instead of replacing it, which would break its other users.
  struct stat info{};
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
    return write_existing_file(path, content);
  const std::string temporary = fmt::format("{}.{}.tmp", path, make_token(6));
  auto written = write_new_file(temporary, content, options);
  if (written && ::rename(temporary.c_str(), path.c_str()) != 0)
    written = fail_errno(errno, fmt::format("cannot replace {}", path));
  if (!written) {
    ::unlink(temporary.c_str());
    return written;
  }
  if (options.sync) PLIM_CHECK(sync_directory(parent_of(path)));
  return {};
}

Result<void> write_existing_file(const std::string& path, std::string_view content) {
  PLIM_TRY(Fd fd, open_file(path, O_WRONLY | O_TRUNC));
  for (;;) {
    ssize_t n = ::write(fd.get(), content.data(), content.size());
    if (n == static_cast<ssize_t>(content.size())) return {};
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno(errno, fmt::format("cannot write {}", path));
    return fail(Code::internal, fmt::format("wrote {} of {} bytes to {}", n, content.size(), path));
  }
}

Result<void> sync_directory(const std::string& path) {
  PLIM_TRY(Fd fd, open_file(path, O_RDONLY | O_DIRECTORY));
  if (::fsync(fd.get()) != 0) return fail_errno(errno, fmt::format("cannot sync {}", path));
  return {};
}

Result<void> make_directories(const std::string& path, mode_t mode) {
  if (path.find('\0') != path.npos) return fail(Code::invalid, "file name contains a NUL byte");
  for (std::size_t end = 0; end != path.npos;) {
    end = path.find('/', end + 1);
    const std::string part = path.substr(0, end);
    if (::mkdir(part.c_str(), mode) == 0) continue;
    const int problem = errno;
    struct stat info{};
    // Besides EEXIST, other errors are possible for an existing directory in a read-only parent.
    if (::stat(part.c_str(), &info) == 0) {
      if (S_ISDIR(info.st_mode)) continue;
      return fail_errno(ENOTDIR, fmt::format("cannot make directory {}: {}", path, part));
    }
    return fail_errno(problem, fmt::format("cannot make directory {}", part));
  }
  return {};
}

Result<void> remove_file(const std::string& path) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return {};
  return fail_errno(errno, fmt::format("cannot remove {}", path));
}

Result<FileLock> FileLock::acquire(const std::string& path) {
  PLIM_TRY(Fd fd, open_file(path, O_RDWR | O_CREAT, 0600));
  // Another holder may be short-lived: a process that only checks, or a child of a killed process
  // between fork and exec.
  constexpr useconds_t kPause = 5'000;
  int moments = 400;
  while (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return fail_errno(errno, fmt::format("cannot lock {}", path));
    auto pid = read_pid(fd.get());
    if (pid && process_runs(*pid))
      return fail(Code::already_exists,
                  fmt::format("{} is locked by the running process {}", path, *pid));
    if (moments-- == 0)
      return fail(Code::already_exists, fmt::format("{} is locked by an unknown process", path));
    ::usleep(kPause);
  }
  if (::ftruncate(fd.get(), 0) != 0) return fail_errno(errno, fmt::format("cannot write {}", path));
  PLIM_CHECK(write_all(fd.get(), fmt::format("{}\n", ::getpid()), path));
  return FileLock(std::move(fd));
}

}  // namespace plim
