#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <string>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

#include "base/fd.hpp"
#include "local/kubelet/shim/shim.hpp"

namespace plim::local::kubelet {

namespace {

int complain(const char* what) {
  std::fprintf(stderr, "pod-shim: %s: %s\n", what, std::strerror(errno));
  return 1;
}

// Relative to the pod's directory, because the whole path may be too long for a socket address.
Fd listen_here() {
  const std::string name(kShimSocket);
  ::unlink(name.c_str());
  Fd out(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path, sizeof address.sun_path - 1);
  if (::bind(out.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(out.get(), 64) != 0)
    out.reset();
  return out;
}

Fd listen_for_signals() {
  sigset_t wanted;
  ::sigemptyset(&wanted);
  ::sigaddset(&wanted, SIGCHLD);
  ::sigaddset(&wanted, SIGTERM);
  ::sigprocmask(SIG_SETMASK, &wanted, nullptr);
  ::signal(SIGCHLD, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGHUP, SIG_IGN);
  return Fd(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
}

// The shim outlives the node and must not keep the node's files open.
void leave_inherited_descriptors(int first_kept, int second_kept) {
  const int low = std::min(first_kept, second_kept), high = std::max(first_kept, second_kept);
  if (low > 3) ::syscall(SYS_close_range, 3U, static_cast<unsigned>(low - 1), 0U);
  if (high > low + 1)
    ::syscall(SYS_close_range, static_cast<unsigned>(low + 1), static_cast<unsigned>(high - 1), 0U);
  ::syscall(SYS_close_range, static_cast<unsigned>(high + 1), ~0U, 0U);
  const int null = ::open("/dev/null", O_RDWR);
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, fd);
  if (null > STDERR_FILENO) ::close(null);
}

}  // namespace

int run_pod_shim(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: pod-shim DIRECTORY\n");
    return 2;
  }
  if (::chdir(argv[1]) != 0) return complain(argv[1]);
  Fd lock(::open("shim.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) return complain("shim.lock");
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return 3;
  Fd listener = listen_here();
  if (!listener) return complain("cannot listen");
  const pid_t pid = ::fork();
  if (pid < 0) return complain("cannot fork");
  if (pid > 0) ::_exit(0);
  ::setsid();
  ::prctl(PR_SET_NAME, "plimsoll-shim");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  leave_inherited_descriptors(listener.get(), lock.get());
  Fd signals = listen_for_signals();
  Shim shim(std::move(listener), std::move(signals));
  shim.run();
  // Unlink before the connections close: the client that sent `quit` then removes the directory.
  ::unlink(std::string(kShimSocket).c_str());
  return 0;
}

}  // namespace plim::local::kubelet
