#include "local/kubelet/shim/shim_mounts.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <string>
#include <string_view>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "base/beneath.hpp"
#include "base/fd.hpp"
#include "base/files.hpp"

namespace plim::local::kubelet {

namespace {

Result<void> mount_or_fail(const std::string& from, const std::string& to, const char* type,
                           unsigned long flags, const char* data = nullptr) {
  if (::mount(from.c_str(), to.c_str(), type, flags, data) == 0) return {};
  return fail_errno(errno, fmt::format("cannot mount {} at {}", from, to));
}

Result<void> make_file(const std::string& path) {
  Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  if (!fd) return fail_errno(errno, fmt::format("cannot create {}", path));
  return {};
}

bool is_directory(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

std::string parent_of(const std::string& path) {
  const auto slash = path.find_last_of('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

// A copy of the mount at that path, not attached anywhere yet.
Fd detached(int directory, const char* path) {
  return Fd(::open_tree(directory, path,
                        OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_SYMLINK_NOFOLLOW));
}

Result<void> attach(const Fd& tree, const std::string& to) {
  if (::move_mount(tree.get(), "", AT_FDCWD, to.c_str(), MOVE_MOUNT_F_EMPTY_PATH) == 0) return {};
  return fail_errno(errno, fmt::format("cannot mount at {}", to));
}

// Mounts every entry of the directory `from` in the empty directory `to`. Entries that cannot be
// mounted are left out, because entries come and go.
Result<void> mirror(int from, const std::string& to) {
  const int again = ::openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> list(::fdopendir(again), ::closedir);
  if (!list) return fail_errno(errno, "cannot list a directory");
  while (const dirent* entry = ::readdir(list.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    const std::string place = fmt::format("{}/{}", to, name);
    struct stat info{};
    if (::fstatat(from, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISLNK(info.st_mode)) {
      std::array<char, 4096> target{};
      if (::readlinkat(from, entry->d_name, target.data(), target.size() - 1) > 0)
        (void)!::symlink(target.data(), place.c_str());
      continue;
    }
    const Fd tree = detached(from, entry->d_name);
    if (!tree) continue;
    if (S_ISDIR(info.st_mode)) {
      ::mkdir(place.c_str(), 0755);
    } else {
      (void)make_file(place);
    }
    (void)attach(tree, place);
  }
  return {};
}

// Mount points must exist, but we must not create entries in directories that others see too. If
// a mount point is missing, a tmpfs that shows the same entries replaces the nearest existing
// directory above it, in this namespace only.
class MountPoints {
 public:
  // Allows new entries on the file system of this directory: only the container uses it.
  void note_own_system(const std::string& directory) {
    struct stat info{};
    if (::stat(directory.c_str(), &info) == 0) own_systems_.push_back(info.st_dev);
  }

  // Allows new entries in this volume.
  void note_volume(std::string directory) { volumes_.push_back(std::move(directory)); }

  // `user` must be able to reach the mount point.
  Result<void> make(const std::string& path, bool directory, uid_t user) {
    if (user != 0) PLIM_CHECK(open_way(path, user));
    struct stat info{};
    if (::stat(path.c_str(), &info) == 0) return {};
    std::string above = parent_of(path);
    while (!is_directory(above)) above = parent_of(above);
    const std::unique_ptr<char, void (*)(void*)> real(::realpath(above.c_str(), nullptr), ::free);
    if (!real) return fail_errno(errno, above);
    if (!is_own(real.get())) PLIM_CHECK(take_over(real.get()));
    if (directory) return make_directories(path);
    PLIM_CHECK(make_directories(parent_of(path)));
    return make_file(path);
  }

  // Mounts a tmpfs at `place` that shows the entries of `shown`.
  Result<void> take_over(const std::string& place, const std::string& shown) {
    const Fd before(::open(shown.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    PLIM_CHECK(mount_or_fail("tmpfs", place, "tmpfs", MS_STRICTATIME, "mode=755"));
    note_own_system(place);
    return mirror(before.get(), place);
  }

 private:
  Result<void> take_over(const std::string& place) { return take_over(place, place); }

  // A directory that the user may not enter would hide the mounts below it. The user sees nothing
  // in it anyway, so an empty one replaces it.
  Result<void> open_way(const std::string& path, uid_t user) {
    for (auto slash = path.find('/', 1); slash != path.npos; slash = path.find('/', slash + 1)) {
      const std::string above = path.substr(0, slash);
      struct stat info{};
      if (::stat(above.c_str(), &info) != 0) return {};
      if ((info.st_mode & S_IXOTH) != 0 || info.st_uid == user || is_own(above)) continue;
      PLIM_CHECK(mount_or_fail("tmpfs", above, "tmpfs", MS_STRICTATIME, "mode=755"));
      note_own_system(above);
      return {};
    }
    return {};
  }

  bool is_own(const std::string& place) const {
    for (const std::string& volume : volumes_)
      if (place == volume || place.starts_with(volume + "/")) return true;
    struct stat info{};
    return ::stat(place.c_str(), &info) == 0 &&
           std::find(own_systems_.begin(), own_systems_.end(), info.st_dev) != own_systems_.end();
  }

  std::vector<dev_t> own_systems_;
  std::vector<std::string> volumes_;
};

struct Source {
  Fd tree;
  bool directory = false;
  const ShimMount* mount = nullptr;
};

// Other containers may write to a volume at any time, so what is found is what is mounted.
Result<Fd> find_source(const ShimMount& mount) {
  if (!mount.volume.empty()) {
    PLIM_TRY(const Beneath volume, Beneath::open(mount.volume));
    return volume.find(mount.from.substr(mount.volume.size() + 1));
  }
  Fd out(::open(mount.from.c_str(), O_PATH | O_CLOEXEC));
  if (!out) return fail_errno(errno, fmt::format("cannot mount {}", mount.from));
  return out;
}

// Called before the root changes: afterwards these paths no longer exist.
Result<std::vector<Source>> open_sources(const StartSpec& spec) {
  std::vector<Source> out;
  for (const ShimMount& mount : spec.mounts) {
    PLIM_TRY(const Fd found, find_source(mount));
    struct stat info{};
    Fd tree(::open_tree(found.get(), "",
                        OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH));
    if (!tree || ::fstat(found.get(), &info) != 0)
      return fail_errno(errno, fmt::format("cannot mount {}", mount.from));
    out.push_back({std::move(tree), S_ISDIR(info.st_mode), &mount});
  }
  return out;
}

// Unlike chroot, this leaves no way back for a process that may call chroot itself.
Result<void> enter_root(const std::string& root) {
  if (::chdir(root.c_str()) != 0) return fail_errno(errno, fmt::format("cannot enter {}", root));
  if (::syscall(SYS_pivot_root, ".", ".") == 0) {
    if (::umount2(".", MNT_DETACH) == 0 && ::chdir("/") == 0) return {};
  } else if (errno == EINVAL && ::mount(".", "/", nullptr, MS_MOVE, nullptr) == 0) {
    // The first root of a machine cannot be replaced, only hidden.
    if (::chroot(".") == 0 && ::chdir("/") == 0) return {};
  }
  return fail_errno(errno, fmt::format("cannot make {} the root", root));
}

// Builds a /dev like container runtimes do. It is built at `scratch` first, because the devices
// come from the /dev that it will hide.
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
      return fail_errno(errno, fmt::format("cannot create {}/{}", scratch, link.name));
  return mount_or_fail(scratch, dev, nullptr, MS_MOVE);
}

// True if a mount is wanted directly below "/" and nothing exists there.
bool needs_own_root(const StartSpec& spec) {
  return std::any_of(spec.mounts.begin(), spec.mounts.end(), [](const ShimMount& mount) {
    const auto second = mount.to.find('/', 1);
    return !is_directory(mount.to.substr(0, second)) && ::access(mount.to.c_str(), F_OK) != 0;
  });
}

// The directory that becomes "/", or "" if "/" stays.
Result<std::string> choose_root(const StartSpec& spec, MountPoints& points) {
  if (!spec.rootfs.empty()) {
    PLIM_CHECK(mount_or_fail(spec.rootfs, spec.rootfs, nullptr, MS_BIND | MS_REC));
    points.note_own_system(spec.rootfs);
    for (std::string_view name : {"/dev", "/proc"})
      PLIM_CHECK(make_directories(spec.rootfs + std::string(name)));
    return spec.rootfs;
  }
  if (!needs_own_root(spec)) return std::string();
  PLIM_CHECK(make_directories("root"));  // in the pod's directory, which is the shim's current one
  PLIM_CHECK(points.take_over("root", "/"));
  return std::string("root");
}

}  // namespace

Result<void> set_up_mounts(const StartSpec& spec) {
  PLIM_CHECK(mount_or_fail("none", "/", nullptr, MS_REC | MS_PRIVATE));
  PLIM_TRY(const std::vector<Source> sources, open_sources(spec));
  MountPoints points;
  PLIM_TRY(const std::string root, choose_root(spec, points));
  if (spec.own_devices) {
    PLIM_CHECK(make_directories("dev"));
    PLIM_CHECK(make_devices("dev", root + "/dev"));
    points.note_own_system(root + "/dev");
  }
  if (spec.own_processes)
    PLIM_CHECK(mount_or_fail("proc", root + "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC));
  if (!root.empty()) PLIM_CHECK(enter_root(root));
  for (const Source& source : sources) {
    const std::string& to = source.mount->to;
    PLIM_CHECK(points.make(to, source.directory, spec.uid.value_or(0)));
    PLIM_CHECK(attach(source.tree, to));
    if (source.mount->read_only)
      PLIM_CHECK(mount_or_fail("none", to, nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY));
    if (source.directory) points.note_volume(to);
  }
  return {};
}

}  // namespace plim::local::kubelet
