#include "base/process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace plim {
namespace {

// Runs in a separate process, whose state it may break; the exit code is the result.
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
  if (::write(ends[1], "x", 1) != -1) ::_exit(14);  // otherwise SIGPIPE would end us
  ::_exit(0);
}

TEST(Process, preparing_repairs_what_the_parent_left) {
  EXPECT_EXIT(spoil_prepare_and_check(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace plim
