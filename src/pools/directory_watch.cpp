#include "pools/directory_watch.hpp"

#include <cerrno>
#include <map>
#include <sys/inotify.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace plim::pools {
namespace {

constexpr std::uint32_t kComesAndGoes = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO |
                                        IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

}  // namespace

struct DirectoryWatch::Impl {
  Impl(const Executor& loop, int fd) : inotify(loop, fd) {}

  boost::asio::posix::stream_descriptor inotify;
  std::map<std::string, int> watches;
};

DirectoryWatch::DirectoryWatch(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

DirectoryWatch::~DirectoryWatch() = default;

Result<std::unique_ptr<DirectoryWatch>> DirectoryWatch::open(const Executor& loop) {
  const int fd = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (fd < 0) return fail_errno(errno, "cannot watch directories");
  return std::unique_ptr<DirectoryWatch>(new DirectoryWatch(std::make_unique<Impl>(loop, fd)));
}

bool DirectoryWatch::set(const std::vector<std::string>& directories) {
  std::map<std::string, int> now;
  bool fresh = false;
  for (const std::string& path : directories) {
    // Add it again each time: the directory may have been removed and created again.
    const int watch =
        ::inotify_add_watch(impl_->inotify.native_handle(), path.c_str(), kComesAndGoes);
    if (watch < 0) continue;
    now[path] = watch;
    auto before = impl_->watches.find(path);
    if (before == impl_->watches.end() || before->second != watch) fresh = true;
  }
  for (const auto& [path, watch] : impl_->watches)
    if (!now.contains(path)) ::inotify_rm_watch(impl_->inotify.native_handle(), watch);
  impl_->watches = std::move(now);
  return fresh;
}

Task<void> DirectoryWatch::next() {
  for (;;) {
    constexpr auto token = boost::asio::as_tuple(boost::asio::use_awaitable);
    const auto waited =
        co_await impl_->inotify.async_wait(boost::asio::posix::stream_descriptor::wait_read, token);
    if (std::get<0>(waited)) continue;  // cancelled: the next co_await unwinds
    alignas(inotify_event) char buffer[16 * 1024];
    bool something = false;
    for (;;) {
      const ssize_t size = ::read(impl_->inotify.native_handle(), buffer, sizeof buffer);
      if (size <= 0) break;
      for (ssize_t at = 0; at < size;) {
        const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
        something |= (event->mask & IN_IGNORED) == 0;  // our own removals
        at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      }
    }
    if (something) co_return;
  }
}

}  // namespace plim::pools
