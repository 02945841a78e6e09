#include "base/task.hpp"

#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/log.hpp"
#include "base/loop.hpp"

namespace plim {
namespace {

using namespace std::chrono_literals;

Task<void> sleep_then_note(Clock& clock, Nanos duration, std::vector<int>& notes, int note) {
  co_await clock.sleep(duration);
  notes.push_back(note);
}

TEST(FakeClock, wakes_sleepers_in_the_order_of_their_times) {
  Loop loop;
  FakeClock clock;
  std::vector<int> notes;
  TaskGroup group(loop.executor());
  group.spawn("late", sleep_then_note(clock, 20s, notes, 2));
  group.spawn("early", sleep_then_note(clock, 10s, notes, 1));
  loop.run_ready();
  EXPECT_EQ(clock.sleepers(), 2u);
  clock.advance(10s);
  loop.run_ready();
  EXPECT_EQ(notes, std::vector<int>{1});
  EXPECT_TRUE(clock.advance_to_next());
  loop.run_ready();
  EXPECT_EQ(notes, (std::vector<int>{1, 2}));
  EXPECT_FALSE(clock.advance_to_next());
  EXPECT_EQ(group.running(), 0u);
}

TEST(TaskGroup, stop_cancels_waits_and_rejects_new_tasks) {
  Loop loop;
  FakeClock clock;
  std::vector<int> notes;
  TaskGroup group(loop.executor());
  group.spawn("fake", sleep_then_note(clock, 1h, notes, 1));
  group.spawn("real", sleep_then_note(system_clock(), 1h, notes, 2));
  loop.run_ready();
  run_to_end(loop, group.stop());
  EXPECT_EQ(group.running(), 0u);
  EXPECT_EQ(clock.sleepers(), 0u);
  group.spawn("refused", sleep_then_note(clock, 0s, notes, 3));
  loop.run_ready();
  EXPECT_TRUE(notes.empty());
}

TEST(TaskGroup, stop_ends_tasks_that_never_ran) {
  Loop loop;
  FakeClock clock;
  std::vector<int> notes;
  TaskGroup group(loop.executor());
  group.spawn("unstarted", sleep_then_note(clock, 1h, notes, 1));
  run_to_end(loop, group.stop());
  EXPECT_EQ(group.running(), 0u);
}

Task<void> cancel_at_once(TaskGroup& group) {
  group.cancel();
  co_return;
}

TEST(TaskGroup, a_task_may_cancel_its_group_and_end_without_ever_waiting) {
  Loop loop;
  TaskGroup group(loop.executor());
  group.spawn("short", cancel_at_once(group));
  loop.run_ready();
  EXPECT_EQ(group.running(), 0u);
}

TEST(TaskGroup, a_handle_ends_its_task_alone) {
  Loop loop;
  FakeClock clock;
  std::vector<int> notes;
  TaskGroup group(loop.executor());
  TaskGroup::Handle first = group.spawn("first", sleep_then_note(clock, 1s, notes, 1));
  group.spawn("second", sleep_then_note(clock, 1s, notes, 2));
  loop.run_ready();
  first.cancel();
  loop.run_ready();
  EXPECT_EQ(group.running(), 1u);
  clock.advance(1s);
  loop.run_ready();
  EXPECT_EQ(notes, std::vector<int>{2});
  first.cancel();
}

Task<void> ignore_cancellation_for_ever(Clock& clock, int& rounds) {
  for (;;) {
    ++rounds;
    co_await clock.sleep(1h);
  }
}

TEST(TaskGroup, a_task_that_loops_for_ever_still_ends) {
  Loop loop;
  int rounds = 0;
  TaskGroup group(loop.executor());
  group.spawn("loop", ignore_cancellation_for_ever(system_clock(), rounds));
  loop.run_ready();
  run_to_end(loop, group.stop());
  EXPECT_EQ(rounds, 1);
}

Task<void> join_it(TaskGroup& group, bool& joined) {
  co_await group.join();
  joined = true;
}

TEST(TaskGroup, join_waits_for_all) {
  Loop loop;
  FakeClock clock;
  std::vector<int> notes;
  bool joined = false;
  TaskGroup group(loop.executor());
  TaskGroup watcher(loop.executor());
  group.spawn("a", sleep_then_note(clock, 1s, notes, 1));
  group.spawn("b", sleep_then_note(clock, 2s, notes, 2));
  watcher.spawn("join", join_it(group, joined));
  loop.run_ready();
  clock.advance(1s);
  loop.run_ready();
  EXPECT_FALSE(joined);
  clock.advance(1s);
  loop.run_ready();
  EXPECT_TRUE(joined);
}

Task<void> break_down() {
  co_await yield_to_loop();
  throw std::runtime_error("a bug");
}

TEST(TaskGroup, an_exception_is_logged_with_the_name_and_ends_only_its_task) {
  log::Capture capture;
  Loop loop;
  FakeClock clock;
  std::vector<int> notes;
  TaskGroup group(loop.executor());
  group.spawn("broken", break_down());
  group.spawn("fine", sleep_then_note(clock, 1s, notes, 1));
  loop.run_ready();
  const auto lines = capture.take();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], ::testing::EndsWith("task=broken what=\"a bug\""));
  clock.advance(1s);
  loop.run_ready();
  EXPECT_EQ(notes, std::vector<int>{1});
}

TEST(TaskGroup, a_cancelled_task_is_not_logged) {
  log::Capture capture;
  Loop loop;
  std::vector<int> notes;
  TaskGroup group(loop.executor());
  group.spawn("sleeper", sleep_then_note(system_clock(), 1h, notes, 1));
  loop.run_ready();
  run_to_end(loop, group.stop());
  EXPECT_TRUE(capture.take().empty());
}

Task<void> wait_and_mark(Event& go, bool& ended) {
  struct AtTheEnd {
    bool& flag;

    ~AtTheEnd() { flag = true; }
  };

  const AtTheEnd mark{ended};
  co_await go.wait();
}

Task<void> stop_it(TaskGroup& group, bool& inner_ended, bool& waited) {
  co_await group.stop();
  waited = inner_ended;
}

TEST(TaskGroup, stop_waits_even_when_its_caller_is_cancelled) {
  Loop loop;
  Event go(loop.executor());
  bool inner_ended = false, waited = false;
  TaskGroup inner(loop.executor()), outer(loop.executor());
  inner.spawn("slow", wait_and_mark(go, inner_ended));
  loop.run_ready();
  outer.spawn("stopper", stop_it(inner, inner_ended, waited));
  auto both = [](TaskGroup& group) -> Task<void> {
    co_await yield_to_loop();
    co_await group.stop();
  };
  run_to_end(loop, both(outer));
  EXPECT_TRUE(waited);
  EXPECT_EQ(inner.running(), 0u);
}

TEST(LoopPool, runs_posted_work_on_every_loop) {
  std::atomic<int> ran{0};
  {
    LoopPool pool(2);
    for (const Executor& loop : pool.executors())
      post_to(loop, [&] {
        ++ran;
        ran.notify_all();
      });
    for (int seen = ran; seen < 2; seen = ran) ran.wait(seen);
  }
  EXPECT_EQ(ran, 2);
}

}  // namespace
}  // namespace plim
