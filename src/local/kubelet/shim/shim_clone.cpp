#include "local/kubelet/shim/shim_clone.hpp"

#include <cerrno>
#include <cstdint>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PLIM_SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PLIM_SANITIZED
#endif

namespace plim::local::kubelet {

pid_t clone_copy(unsigned long flags, const std::function<void()>& child) {
  const auto pid = static_cast<pid_t>(::syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0));
  if (pid != 0) return pid;
  child();
  ::_exit(128);
}

#ifdef PLIM_SANITIZED

pid_t clone_borrowing(unsigned long flags, const std::function<void()>& child) {
  return clone_copy(flags, child);
}

#else

pid_t clone_borrowing(unsigned long flags, const std::function<void()>& child) {
  // The child needs its own stack: ours holds our return address.
  constexpr std::size_t kStack = 1 << 20;
  void* const stack = ::mmap(nullptr, kStack, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return -1;
  const auto run = [](void* argument) -> int {
    (*static_cast<const std::function<void()>*>(argument))();
    ::_exit(128);
  };
  const pid_t pid = ::clone(run, static_cast<char*>(stack) + kStack,
                            static_cast<int>(flags | CLONE_VM | CLONE_VFORK | SIGCHLD),
                            const_cast<std::function<void()>*>(&child));
  const int error = errno;
  ::munmap(stack, kStack);
  errno = error;
  return pid;
}

#endif

void set_own_slice(Slice slice) {
  // Same as the kernel's struct sched_attr, whose header conflicts with glibc's.
  struct {
    std::uint32_t size = 48, policy = SCHED_OTHER;
    std::uint64_t flags = SCHED_FLAG_RESET_ON_FORK;
    std::int32_t nice = ::getpriority(PRIO_PROCESS, 0);
    std::uint32_t priority = 0;
    std::uint64_t runtime = 0, deadline = 0, period = 0;  // nanoseconds; 0: the default
  } attributes;

  static_assert(sizeof attributes == 48);
  if (slice == Slice::brief) attributes.runtime = 100'000;
  ::syscall(SYS_sched_setattr, 0, &attributes, 0U);
}

}  // namespace plim::local::kubelet
