#include "base/process.hpp"

#include <cerrno>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

namespace plim {

void prepare_process() {
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);
  int fd = 0;
  do {
    fd = ::open("/dev/null", O_RDWR);  // gets the lowest free number; inherited, like 0 to 2
  } while (fd >= 0 && fd <= 2);
  if (fd > 2) ::close(fd);
}

void keep_memory_small() {
  constexpr int kThreshold = 128 * 1024;
  ::mallopt(M_MMAP_THRESHOLD, kThreshold);
  ::mallopt(M_TRIM_THRESHOLD, kThreshold);
}

bool process_runs(pid_t pid) {
  return ::kill(pid, 0) == 0 || errno == EPERM;
}

}  // namespace plim
