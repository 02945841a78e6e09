#include "base/event.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "base/loop.hpp"
#include "base/queue.hpp"

namespace plim {
namespace {

using namespace std::chrono_literals;

Task<void> wait_and_count(Event& event, int& woken) {
  co_await event.wait();
  ++woken;
}

Task<void> wait_until_and_note(Event& event, Clock& clock, Nanos limit, std::vector<bool>& notes) {
  bool in_time = co_await event.wait_until(clock, clock.steady() + limit);
  notes.push_back(in_time);
}

TEST(Event, notify_wakes_all_current_waiters_and_no_later_ones) {
  Loop loop;
  Event event(loop.executor());
  int woken = 0;
  TaskGroup group(loop.executor());
  event.notify();
  group.spawn("a", wait_and_count(event, woken));
  group.spawn("b", wait_and_count(event, woken));
  loop.run_ready();
  EXPECT_EQ(woken, 0);
  event.notify();
  loop.run_ready();
  EXPECT_EQ(woken, 2);
}

TEST(Event, wait_until_ends_at_the_deadline_of_a_fake_clock) {
  Loop loop;
  FakeClock clock;
  Event event(loop.executor());
  std::vector<bool> notes;
  TaskGroup group(loop.executor());
  group.spawn("late", wait_until_and_note(event, clock, 10s, notes));
  group.spawn("past", wait_until_and_note(event, clock, 0s, notes));
  loop.run_ready();
  EXPECT_EQ(notes, std::vector<bool>{false});
  clock.advance(10s);
  loop.run_ready();
  EXPECT_EQ(notes, (std::vector<bool>{false, false}));
  EXPECT_EQ(clock.sleepers(), 0u);
}

TEST(Event, wait_until_ends_at_notify_and_cancels_its_alarm) {
  Loop loop;
  FakeClock clock;
  Event event(loop.executor());
  std::vector<bool> notes;
  TaskGroup group(loop.executor());
  group.spawn("wait", wait_until_and_note(event, clock, 10s, notes));
  loop.run_ready();
  EXPECT_EQ(clock.sleepers(), 1u);
  event.notify();
  loop.run_ready();
  EXPECT_EQ(notes, std::vector<bool>{true});
  EXPECT_EQ(clock.sleepers(), 0u);
}

TEST(Event, one_deadline_does_not_wake_other_waiters) {
  Loop loop;
  FakeClock clock;
  Event event(loop.executor());
  std::vector<bool> notes;
  int woken = 0;
  TaskGroup group(loop.executor());
  group.spawn("deadline", wait_until_and_note(event, clock, 1s, notes));
  group.spawn("patient", wait_and_count(event, woken));
  loop.run_ready();
  clock.advance(1s);
  loop.run_ready();
  EXPECT_EQ(notes.size(), 1u);
  EXPECT_EQ(woken, 0);
  run_to_end(loop, group.stop());
}

TEST(Event, cancelled_waits_unwind) {
  Loop loop;
  FakeClock clock;
  Event event(loop.executor());
  std::vector<bool> notes;
  int woken = 0;
  TaskGroup group(loop.executor());
  group.spawn("plain", wait_and_count(event, woken));
  group.spawn("deadline", wait_until_and_note(event, clock, 1h, notes));
  loop.run_ready();
  run_to_end(loop, group.stop());
  loop.run_ready();
  EXPECT_EQ(woken, 0);
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(clock.sleepers(), 0u);
}

TEST(Event, waits_unwind_when_it_is_destroyed) {
  Loop loop;
  auto event = std::make_unique<Event>(loop.executor());
  int woken = 0;
  TaskGroup group(loop.executor());
  group.spawn("wait", wait_and_count(*event, woken));
  loop.run_ready();
  event.reset();
  loop.run_ready();
  EXPECT_EQ(group.running(), 0u);
  EXPECT_EQ(woken, 0);
}

Task<void> push_all(Queue<int>& queue, int count, int& pushed) {
  for (int i = 0; i < count; ++i) {
    bool open = co_await queue.push(i);
    if (!open) co_return;
    ++pushed;
  }
  queue.close();
}

Task<void> pop_all(Queue<int>& queue, std::vector<int>& got) {
  for (;;) {
    std::optional<int> item = co_await queue.pop();
    if (!item) co_return;
    got.push_back(*item);
  }
}

TEST(Queue, blocks_the_writer_and_keeps_the_order) {
  Loop loop;
  Queue<int> queue(loop.executor(), 2);
  int pushed = 0;
  std::vector<int> got;
  TaskGroup group(loop.executor());
  group.spawn("push", push_all(queue, 5, pushed));
  loop.run_ready();
  EXPECT_EQ(pushed, 2);
  EXPECT_FALSE(queue.try_push(9));
  group.spawn("pop", pop_all(queue, got));
  loop.run_ready();
  EXPECT_EQ(got, (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_EQ(group.running(), 0u);
}

TEST(Queue, close_ends_waiting_readers_and_writers) {
  Loop loop;
  Queue<int> full(loop.executor(), 1), empty(loop.executor(), 1);
  int pushed = 0;
  std::vector<int> got;
  TaskGroup group(loop.executor());
  group.spawn("push", push_all(full, 2, pushed));
  group.spawn("pop", pop_all(empty, got));
  loop.run_ready();
  full.close();
  empty.close();
  loop.run_ready();
  EXPECT_EQ(group.running(), 0u);
  EXPECT_EQ(pushed, 1);
  EXPECT_EQ(full.size(), 1u);
}

TEST(Queue, many_readers_share_the_items) {
  Loop loop;
  Queue<int> queue(loop.executor(), 3);
  int pushed = 0;
  std::vector<int> got;
  TaskGroup group(loop.executor());
  for (int i = 0; i < 4; ++i) group.spawn("pop", pop_all(queue, got));
  group.spawn("push", push_all(queue, 100, pushed));
  run_to_end(loop, group.join());
  std::sort(got.begin(), got.end());
  ASSERT_EQ(got.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(got[static_cast<std::size_t>(i)], i);
}

}  // namespace
}  // namespace plim
