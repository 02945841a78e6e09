#include "base/process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace plim {
namespace {

// In a process of its own, whose state it may spoil; the exit code is the verdict.
[[noreturn]] void spoil_prepare_and_check() {
  ::close(0);
  ::close(2);
  ::signal(SIGCHLD, SIG_IGN);
  prepare_process();
  keep_memory_small();
  if (::fcntl(0, F_GETFD) < 0) ::_exit(10);
  if (::fcntl(2, F_GETFD) < 0) ::_exit(11);
  if (::signal(SIGCHLD, SIG_DFL) != SIG_DFL) ::_exit(12);
  int ends[2];
  if (::pipe(ends) != 0) ::_exit(13);
  ::close(ends[0]);
  if (::write(ends[1], "x", 1) != -1) ::_exit(14);  // SIGPIPE would end us before
  ::_exit(0);
}

TEST(Process, preparing_mends_what_the_parent_left) {
  EXPECT_EXIT(spoil_prepare_and_check(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace plim
