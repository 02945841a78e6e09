#include "base/file_watch.hpp"

#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "base/event.hpp"
#include "base/fd.hpp"

namespace plim {
namespace asio = boost::asio;

namespace {

constexpr std::uint32_t kFileEvents =
    IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO;
constexpr std::uint32_t kEvents = kFileEvents | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

// Distinguishes versions of a file, following links. Empty: no such file.
using Fingerprint = std::tuple<dev_t, ino_t, off_t, time_t, long>;

Fingerprint fingerprint(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return {};
  return {info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
}

struct Target {
  std::string path, directory, name;
  Fingerprint last;
  bool touched = false;
};

std::pair<std::string, std::string> split_path(const std::string& path) {
  const auto slash = path.find_last_of('/');
  if (slash == path.npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

}  // namespace

struct FileWatch::Impl {
  Impl(const Executor& loop, int fd, Options o, Clock& c)
      : inotify(loop, fd), options(o), clock(&c) {}

  Result<void> rearm();
  Result<int> watch_nearest(const std::string& directory);
  void read_events();
  void note(const inotify_event& event, std::string_view name);
  std::vector<std::string> take_changes();

  asio::posix::stream_descriptor inotify;
  Options options;
  Clock* clock;
  std::vector<Target> targets;
  std::map<int, std::set<std::string>> watches;  // by descriptor: the directories it watches
  bool lost_count = false;
};

// Watches the directory itself or, as long as it is missing, the nearest existing parent, whose
// events report its creation.
Result<int> FileWatch::Impl::watch_nearest(const std::string& directory) {
  auto add = [&] {
    return ::inotify_add_watch(inotify.native_handle(), directory.c_str(), kEvents);
  };
  int watch = add();
  if (watch >= 0) return watch;
  if ((errno != ENOENT && errno != ENOTDIR) || directory == "/" || directory == ".")
    return fail_errno(errno, fmt::format("cannot watch {}", directory));
  PLIM_TRY(const int above, watch_nearest(split_path(directory).first));
  watch = add();  // it may have been created before the parent was watched
  return watch >= 0 ? watch : above;
}

// A watch ends with its directory and follows it when it is moved: check again each time.
Result<void> FileWatch::Impl::rearm() {
  std::map<int, std::set<std::string>> before = std::exchange(watches, {});
  std::set<std::string> directories;
  for (const Target& target : targets) directories.insert(target.directory);
  Result<void> out;
  for (const std::string& directory : directories) {
    auto watch = watch_nearest(directory);
    if (watch) {
      watches[*watch].insert(directory);
    } else {
      out = watch.error();
    }
  }
  for (const auto& [watch, unused] : before)
    if (!watches.contains(watch)) ::inotify_rm_watch(inotify.native_handle(), watch);
  return out;
}

void FileWatch::Impl::note(const inotify_event& event, std::string_view name) {
  lost_count |= (event.mask & IN_Q_OVERFLOW) != 0;
  const auto found = watches.find(event.wd);
  if (found == watches.end() || (event.mask & kFileEvents) == 0) return;
  for (Target& target : targets)
    if (target.name == name && found->second.contains(target.directory)) target.touched = true;
}

void FileWatch::Impl::read_events() {
  alignas(inotify_event) char buffer[64 * 1024];
  // One buffer is enough: if more is pending, the descriptor is readable again.
  const ssize_t size = ::read(inotify.native_handle(), buffer, sizeof buffer);
  for (ssize_t at = 0; at < size;) {
    inotify_event event{};
    std::memcpy(&event, buffer + at, sizeof event);
    const char* name = buffer + at + sizeof event;
    note(event, std::string_view(name, ::strnlen(name, event.len)));
    at += static_cast<ssize_t>(sizeof event + event.len);
  }
}

std::vector<std::string> FileWatch::Impl::take_changes() {
  std::vector<std::string> out;
  for (Target& target : targets) {
    // The event alone reports too much: files that were created and removed again. The fingerprint
    // alone reports too little: two writes within one clock tick look the same.
    const Fingerprint now = fingerprint(target.path);
    const bool exists = now != Fingerprint{};
    if (lost_count || now != target.last || (target.touched && exists)) out.push_back(target.path);
    target.last = now;
    target.touched = false;
  }
  lost_count = false;
  return out;
}

Result<std::unique_ptr<FileWatch>> FileWatch::open(const Executor& loop,
                                                   std::vector<std::string> paths, Clock& clock) {
  return open(loop, std::move(paths), Options{}, clock);
}

Result<std::unique_ptr<FileWatch>> FileWatch::open(const Executor& loop,
                                                   std::vector<std::string> paths, Options options,
                                                   Clock& clock) {
  Fd fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!fd) return fail_errno(errno, "cannot use inotify");
  auto impl = std::make_shared<Impl>(loop, fd.release(), options, clock);
  for (std::string& path : paths) {
    auto [directory, name] = split_path(path);
    impl->targets.push_back({std::move(path), std::move(directory), std::move(name), {}, false});
  }
  PLIM_CHECK(impl->rearm());
  for (Target& target : impl->targets) target.last = fingerprint(target.path);
  return std::unique_ptr<FileWatch>(new FileWatch(std::move(impl)));
}

FileWatch::FileWatch(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

FileWatch::~FileWatch() = default;

Task<std::vector<std::string>> FileWatch::next() {
  auto impl = impl_;
  for (;;) {
    co_await impl->inotify.async_wait(impl->inotify.wait_read, asio::as_tuple(asio::use_awaitable));
    co_await unwind_if_cancelled();
    co_await impl->clock->sleep(impl->options.settle);
    impl->read_events();
    // A directory that cannot be watched any more, for lack of permission or memory, is retried at
    // the next event.
    std::ignore = impl->rearm();
    auto changes = impl->take_changes();
    if (!changes.empty()) co_return changes;
  }
}

}  // namespace plim
