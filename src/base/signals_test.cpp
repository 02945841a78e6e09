#include "base/signals.hpp"

#include <signal.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "base/loop.hpp"

namespace plim {
namespace {

Task<void> count_reloads(Signals& signals, int& reloads) {
  for (;;) {
    co_await signals.reload_requested();
    ++reloads;
  }
}

TEST(Signals, the_first_stop_is_a_request_and_stays) {
  Loop loop;
  Signals signals(loop.executor());
  EXPECT_EQ(signals.stop_signal(), 0);
  ::raise(SIGTERM);
  run_to_end(loop, signals.stop_requested());
  EXPECT_EQ(signals.stop_signal(), SIGTERM);
  run_to_end(loop, signals.stop_requested());
}

TEST(Signals, each_hangup_asks_for_one_reload) {
  Loop loop;
  Signals signals(loop.executor(), {.reload = true});
  int reloads = 0;
  TaskGroup group(loop.executor());
  group.spawn("count", count_reloads(signals, reloads));
  for (int i = 1; i <= 3; ++i) {
    ::raise(SIGHUP);
    while (reloads < i) run_to_end(loop, yield_to_loop());
  }
  EXPECT_EQ(signals.stop_signal(), 0);
  run_to_end(loop, group.stop());
}

TEST(Signals, the_second_user_signal_asks_for_a_dump) {
  Loop loop;
  Signals signals(loop.executor(), {.dump = true});
  ::raise(SIGUSR2);
  run_to_end(loop, signals.dump_requested());
  EXPECT_EQ(signals.stop_signal(), 0);
}

[[noreturn]] void stop_twice() {
  Loop loop;
  Signals signals(loop.executor());
  ::raise(SIGINT);
  run_to_end(loop, signals.stop_requested());
  ::raise(SIGINT);  // the loop does not run any more
  ::_exit(0);
}

[[noreturn]] void hang_up_without_reload() {
  ::signal(SIGHUP, SIG_DFL);  // the parent may ignore it, as nohup does
  Loop loop;
  Signals signals(loop.executor());
  ::raise(SIGHUP);
  ::_exit(0);
}

[[noreturn]] void stop_after_destruction() {
  Loop loop;
  {
    Signals signals(loop.executor());
    ::raise(SIGTERM);
    run_to_end(loop, signals.stop_requested());
  }
  ::raise(SIGTERM);
  ::_exit(0);
}

TEST(SignalsDeathTest, the_second_stop_ends_at_once) {
  EXPECT_EXIT(stop_twice(), ::testing::ExitedWithCode(130), "");
}

TEST(SignalsDeathTest, hangup_keeps_its_default) {
  EXPECT_EXIT(hang_up_without_reload(), ::testing::KilledBySignal(SIGHUP), "");
}

TEST(SignalsDeathTest, destruction_restores_the_default) {
  EXPECT_EXIT(stop_after_destruction(), ::testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace plim
