#include "local/runtime/shim_mounts.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/fd.hpp"
#include "base/files.hpp"

namespace plim::local {

namespace {

Result<void> mount_or_fail(const std::string& from, const std::string& to, const char* type,
                           unsigned long flags, const char* data = nullptr) {
  if (::mount(from.c_str(), to.c_str(), type, flags, data) == 0) return {};
  return fail_errno(errno, fmt::format("cannot mount {} at {}", from, to));
}

Result<void> make_file(const std::string& path) {
  Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  if (!fd) return fail_errno(errno, fmt::format("cannot make {}", path));
  return {};
}

Result<void> make_mount_point(const std::string& from, const std::string& to) {
  struct stat source{}, target{};
  if (::stat(from.c_str(), &source) != 0)
    return fail_errno(errno, fmt::format("cannot mount {}", from));
  if (::stat(to.c_str(), &target) == 0) return {};
  if (S_ISDIR(source.st_mode)) return make_directories(to);
  const auto slash = to.rfind('/');
  if (slash != 0 && slash != std::string::npos) PLIM_CHECK(make_directories(to.substr(0, slash)));
  return make_file(to);
}

Result<void> bind(const ShimMount& mount, const std::string& root) {
  const std::string to = root + mount.to;
  PLIM_CHECK(make_mount_point(mount.from, to));
  PLIM_CHECK(mount_or_fail(mount.from, to, nullptr, MS_BIND | MS_REC));
  if (!mount.read_only) return {};
  return mount_or_fail("none", to, nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY);
}

// A /dev as container runtimes make it. It is put together at `scratch` first, because the devices
// come from the /dev it is going to hide.
Result<void> make_devices(const std::string& scratch, const std::string& dev) {
  PLIM_CHECK(mount_or_fail("tmpfs", scratch, "tmpfs", MS_NOSUID | MS_STRICTATIME, "mode=755"));
  for (std::string_view name : {"null", "zero", "full", "random", "urandom", "tty"}) {
    const std::string to = fmt::format("{}/{}", scratch, name);
    PLIM_CHECK(make_file(to));
    PLIM_CHECK(mount_or_fail(fmt::format("/dev/{}", name), to, nullptr, MS_BIND));
  }
  for (std::string_view name : {"shm", "pts", "mqueue"})
    PLIM_CHECK(make_directories(fmt::format("{}/{}", scratch, name)));
  PLIM_CHECK(mount_or_fail("shm", scratch + "/shm", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
                           "mode=1777,size=64m"));
  PLIM_CHECK(mount_or_fail("devpts", scratch + "/pts", "devpts", MS_NOSUID | MS_NOEXEC,
                           "newinstance,ptmxmode=0666,mode=620"));

  struct Link {
    const char* target;
    const char* name;
  };

  for (const Link& link :
       {Link{"pts/ptmx", "ptmx"}, Link{"/proc/self/fd", "fd"}, Link{"/proc/self/fd/0", "stdin"},
        Link{"/proc/self/fd/1", "stdout"}, Link{"/proc/self/fd/2", "stderr"}})
    if (::symlink(link.target, fmt::format("{}/{}", scratch, link.name).c_str()) != 0)
      return fail_errno(errno, fmt::format("cannot make {}/{}", scratch, link.name));
  PLIM_CHECK(make_directories(dev));
  return mount_or_fail(scratch, dev, nullptr, MS_MOVE);
}

}  // namespace

Result<void> set_up_mounts(const StartSpec& spec) {
  PLIM_CHECK(mount_or_fail("none", "/", nullptr, MS_REC | MS_PRIVATE));
  const std::string& root = spec.rootfs;
  if (!root.empty()) PLIM_CHECK(mount_or_fail(root, root, nullptr, MS_BIND | MS_REC));
  if (spec.own_devices) {
    PLIM_CHECK(make_directories("dev"));  // in the pod's directory, where the shim works
    PLIM_CHECK(make_devices("dev", root + "/dev"));
  }
  if (spec.own_processes) {
    PLIM_CHECK(make_directories(root + "/proc"));
    PLIM_CHECK(mount_or_fail("proc", root + "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC));
  }
  for (const ShimMount& mount : spec.mounts) PLIM_CHECK(bind(mount, root));
  if (root.empty()) return {};
  if (::chroot(root.c_str()) != 0 || ::chdir("/") != 0)
    return fail_errno(errno, fmt::format("cannot enter {}", root));
  return {};
}

}  // namespace plim::local
