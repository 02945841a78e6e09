#include "kube/work_queue.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/loop.hpp"

namespace plim::kube {
namespace {

using namespace std::chrono_literals;
using Queue = WorkQueue<std::string>;

constexpr int kSpins = 1000;

struct QueueRig {
  // What next() gives now, or "" if it would wait.
  std::string next() {
    std::string out;
    TaskGroup tasks(loop.executor());
    tasks.spawn("next", take(&out));
    loop.run_ready();
    run_to_end(loop, tasks.stop());
    return out;
  }

  Task<void> take(std::string* out) {
    std::string key = co_await queue.next();
    *out = std::move(key);
  }

  // Never lets the queue become empty.
  Task<void> spin(int* turns) {
    for (queue.add("a"); *turns < kSpins; ++*turns) {
      std::string key = co_await queue.next();
      queue.add(key);
      queue.done(key);
    }
  }

  Task<void> note(const int* turns, int* out) {
    *out = *turns;
    co_return;
  }

  Loop loop;
  FakeClock clock;
  Queue queue{loop.executor(), Queue::Options(), clock};
};

TEST(WorkQueue, hands_out_keys_in_order_and_once) {
  QueueRig rig;
  for (auto key : {"a", "b", "a"}) rig.queue.add(key);
  EXPECT_EQ(rig.queue.size(), 2u);
  EXPECT_EQ(rig.next(), "a");
  EXPECT_EQ(rig.next(), "b");
  EXPECT_EQ(rig.next(), "");
}

TEST(WorkQueue, a_key_added_while_worked_on_comes_again_after_done) {
  QueueRig rig;
  rig.queue.add("a");
  EXPECT_EQ(rig.next(), "a");
  rig.queue.add("a");
  rig.queue.add("a");
  EXPECT_EQ(rig.next(), "");
  rig.queue.done("a");
  EXPECT_EQ(rig.next(), "a");
  rig.queue.done("a");
  EXPECT_EQ(rig.next(), "");
}

TEST(WorkQueue, delays_and_the_earliest_time_counts) {
  QueueRig rig;
  rig.queue.add_after("a", 10s);
  rig.queue.add_after("a", 5s);
  rig.queue.add_after("a", 20s);
  rig.queue.add_after("b", 6s);
  EXPECT_EQ(rig.next(), "");
  rig.clock.advance(5s);
  EXPECT_EQ(rig.next(), "a");
  EXPECT_EQ(rig.next(), "");
  rig.clock.advance(1s);
  EXPECT_EQ(rig.next(), "b");
  rig.queue.done("a");
  rig.clock.advance(1h);
  EXPECT_EQ(rig.next(), "");
}

TEST(WorkQueue, a_waiting_worker_wakes_when_a_key_is_due) {
  QueueRig rig;
  std::string got;
  TaskGroup tasks(rig.loop.executor());
  tasks.spawn("worker", rig.take(&got));
  rig.loop.run_ready();
  rig.queue.add_after("later", 10s);
  rig.queue.add_after("soon", 1s);
  rig.loop.run_ready();
  rig.clock.advance(1s);
  rig.loop.run_ready();
  EXPECT_EQ(got, "soon");
  EXPECT_EQ(tasks.running(), 0u);
}

TEST(WorkQueue, retries_wait_twice_as_long_each_time) {
  QueueRig rig;
  for (Nanos wait : {5ms, 10ms, 20ms, 40ms}) {
    rig.queue.retry("a");
    rig.clock.advance(wait - 1ns);
    EXPECT_EQ(rig.next(), "");
    rig.clock.advance(1ns);
    EXPECT_EQ(rig.next(), "a");
    rig.queue.done("a");
  }
  EXPECT_EQ(rig.queue.failures("a"), 4);
  rig.queue.forget("a");
  rig.queue.retry("a");
  rig.clock.advance(5ms);
  EXPECT_EQ(rig.next(), "a");
  for (int i = 0; i < 200; ++i) rig.queue.retry("b");
  rig.queue.done("b");
  rig.queue.retry("c");
  rig.clock.advance(1000s);
  EXPECT_NE(rig.next(), "");
}

TEST(WorkQueue, slows_down_a_worker_that_wants_its_key_again_at_once_turn_after_turn) {
  QueueRig rig;
  rig.queue.add("a");
  for (Nanos wait : {0ms, 0ms, 0ms, 0ms, 0ms, 5ms, 10ms, 20ms, 40ms, 80ms, 160ms, 320ms, 640ms,
                     1000ms, 1000ms}) {
    ASSERT_EQ(rig.next(), "a");
    rig.queue.add_after("a", -1s);
    rig.queue.add_after("a", 0s);  // asked twice in a turn, counted once
    rig.queue.done("a");
    if (wait == 0ms) continue;
    EXPECT_EQ(rig.next(), "");
    rig.clock.advance(wait - 1ns);
    EXPECT_EQ(rig.next(), "") << wait.count();
    rig.clock.advance(1ns);
  }
  ASSERT_EQ(rig.next(), "a");
  rig.queue.done("a");  // content at last
  rig.queue.add("a");
  ASSERT_EQ(rig.next(), "a");
  rig.queue.add_after("a", 0s);
  rig.queue.done("a");
  EXPECT_EQ(rig.next(), "a");
}

TEST(WorkQueue, does_not_slow_down_what_others_add) {
  QueueRig rig;
  rig.queue.add("a");
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(rig.next(), "a") << i;
    rig.queue.add("a");
    rig.queue.done("a");
    rig.queue.add_after("a", 0s);
  }
}

TEST(WorkQueue, lets_others_have_their_turn_however_full_it_is) {
  QueueRig rig;
  int turns = 0, turns_before = -1;
  TaskGroup tasks(rig.loop.executor());
  tasks.spawn("spins", rig.spin(&turns));
  tasks.spawn("other", rig.note(&turns, &turns_before));
  rig.loop.run_ready();
  EXPECT_EQ(turns, kSpins);
  EXPECT_GE(turns_before, 0);
  EXPECT_LT(turns_before, kSpins);
}

RC_GTEST_PROP(WorkQueue, never_two_workers_on_a_key_and_nothing_is_lost, ()) {
  QueueRig rig;
  std::set<std::string> working, owed;
  int steps = *rc::gen::inRange(0, 80);
  for (int i = 0; i < steps; ++i) {
    std::string key(1, static_cast<char>('a' + *rc::gen::inRange(0, 4)));
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        rig.queue.add(key);
        owed.insert(key);
        break;
      case 1:
        rig.queue.add_after(key, 1s);
        owed.insert(key);
        break;
      case 2:
        if (std::string got = rig.next(); !got.empty()) {
          RC_ASSERT(working.insert(got).second);
          RC_ASSERT(owed.contains(got));
        }
        break;
      case 3:
        rig.queue.done(key);
        working.erase(key);
        break;
    }
  }
  for (const auto& key : working) rig.queue.done(key);
  working.clear();
  rig.clock.advance(1s);
  std::set<std::string> left;
  for (std::string got = rig.next(); !got.empty(); got = rig.next()) left.insert(got);
  for (const auto& key : left) RC_ASSERT(owed.contains(key));
  RC_ASSERT(rig.queue.size() == 0u);
}

}  // namespace
}  // namespace plim::kube
