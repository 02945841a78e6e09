#include "base/beneath.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/random.hpp"
#include "base/text.hpp"
#include "base/write_all.hpp"

namespace plim {
namespace {

Fd open_at(int directory, const std::string& path, std::uint64_t flags, std::uint64_t resolve) {
  open_how how{.flags = flags | O_CLOEXEC, .mode = 0, .resolve = resolve};
  return Fd(static_cast<int>(::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how)));
}

Error failure(int error, std::string_view doing, const std::string& path) {
  if (error == EXDEV)
    return fail(Code::invalid, fmt::format("{} leads out of its volume", quote(path)));
  if (error == ELOOP)
    return fail(Code::invalid, fmt::format("{} is a symbolic link in its volume", quote(path)));
  return fail_errno(error, fmt::format("cannot {} {}", doing, path));
}

bool has_content(int directory, const std::string& name, std::string_view content) {
  const Fd fd = open_at(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, RESOLVE_BENEATH);
  struct stat info{};
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode) ||
      static_cast<std::size_t>(info.st_size) != content.size())
    return false;
  std::array<char, 4096> piece{};
  for (;;) {
    const ssize_t n = ::read(fd.get(), piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n == 0 && content.empty();
    const std::string_view got(piece.data(), static_cast<std::size_t>(n));
    if (!content.starts_with(got)) return false;
    content.remove_prefix(got.size());
  }
}

}  // namespace

Result<Beneath> Beneath::open(const std::string& directory) {
  Fd fd(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return failure(errno, "open", directory);
  return Beneath(std::move(fd));
}

Result<Fd> Beneath::find(const std::string& path) const {
  Fd out = open_at(fd_.get(), path, O_PATH, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
  if (!out) return failure(errno, "open", path);
  return out;
}

Result<void> Beneath::make_directories(const std::string& path, mode_t mode) const {
  Fd above = open_at(fd_.get(), ".", O_PATH | O_DIRECTORY, RESOLVE_BENEATH);
  if (!above) return failure(errno, "open", path);
  for (const std::string_view part : split(path, '/')) {
    const std::string name(part);
    const bool made = ::mkdirat(above.get(), name.c_str(), mode) == 0;
    if (!made && errno != EEXIST) return failure(errno, "create directory", path);
    Fd next = open_at(above.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, RESOLVE_BENEATH);
    if (!next) return failure(errno, "open", path);
    if (made && ::fchmod(next.get(), mode) != 0) return failure(errno, "set the mode of", path);
    above = std::move(next);
  }
  return {};
}

Result<void> Beneath::write_file(const std::string& path, std::string_view content,
                                 mode_t mode) const {
  const auto slash = path.rfind('/');
  const std::string name = slash == path.npos ? path : path.substr(slash + 1);
  const std::string parent = slash == path.npos ? "." : path.substr(0, slash);
  if (slash != path.npos) PLIM_CHECK(make_directories(parent, 0755));
  const Fd directory =
      open_at(fd_.get(), parent, O_PATH | O_DIRECTORY, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
  if (!directory) return failure(errno, "open", parent);
  // A watcher sees only real changes.
  if (has_content(directory.get(), name, content)) return {};
  const std::string temporary = fmt::format(".{}.{}.tmp", name, make_token(6));
  const Fd fd(::openat(directory.get(), temporary.c_str(),
                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!fd) return failure(errno, "create", path);
  auto written = write_all(fd.get(), content, path);
  if (written && ::fchmod(fd.get(), mode) != 0) written = failure(errno, "set the mode of", path);
  if (written && ::renameat(directory.get(), temporary.c_str(), directory.get(), name.c_str()) != 0)
    written = failure(errno, "replace", path);
  if (!written) ::unlinkat(directory.get(), temporary.c_str(), 0);
  return written;
}

}  // namespace plim
