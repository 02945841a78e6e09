#include "local/store/store_watch.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "local/store/testing/store_fixture.hpp"

namespace plim::local::store::testing {
namespace {

using namespace std::chrono_literals;

class WatchTest : public StoreTest {
 protected:
  WatchTest() { options.durability = Durability::none; }

  // "+a" created, "~a" modified, "-a" deleted, each with its revision.
  std::vector<std::string> take(Watcher& watcher, std::size_t limit = 100) {
    std::vector<std::string> out;
    auto changes = run_to_end(loop, watcher.next(limit));
    if (!changes) return {std::string(reason(changes.error().code))};
    for (const ChangePtr& change : *changes) {
      const std::string name = change->key().substr(change->key().rfind('/') + 1);
      const char* sign = !change->before ? "+" : change->now ? "~" : "-";
      out.push_back(fmt::format("{}{}@{}", sign, name, change->revision));
    }
    return out;
  }

  std::unique_ptr<Watcher> watch(const std::string& prefix, Revision after) {
    auto watcher = store->watch(prefix, after);
    EXPECT_TRUE(watcher) << watcher.error().message;
    return std::move(*watcher);
  }

  void write(int count, const std::string& name = "a") {
    for (int i = 0; i < count; ++i) ASSERT_TRUE(run(put(pod(name), std::string(100, 'x'))));
  }

  using Names = std::vector<std::string>;
};

TEST(ResourceOf, is_the_key_up_to_the_resource) {
  EXPECT_EQ(resource_of("/registry/core/pods/ns/name"), "/registry/core/pods/");
  EXPECT_EQ(resource_of("/registry/core/pods/"), "/registry/core/pods/");
  EXPECT_EQ(resource_of("/registry//nodes/n"), "/registry//nodes/");
  EXPECT_EQ(resource_of("/registry/core/pods"), "");
  EXPECT_EQ(resource_of("/registry/"), "");
  EXPECT_EQ(resource_of("pods/a/b/c"), "");
}

TEST_F(WatchTest, delivers_past_and_new_changes) {
  open();
  ASSERT_TRUE(run(put(pod("a"), "1")));
  ASSERT_TRUE(run(put(pod("b"), "1")));
  auto watcher = watch("/registry/core/pods/", 1);
  EXPECT_EQ(take(*watcher), Names{"+b@2"});
  EXPECT_EQ(watcher->revision(), 2u);
  ASSERT_TRUE(run(put(pod("a"), "2")));
  ASSERT_TRUE(run(del(pod("b"))));
  EXPECT_EQ(take(*watcher), (Names{"~a@3", "-b@4"}));
}

TEST_F(WatchTest, a_prefix_selects_only_its_own_keys) {
  open();
  auto all = watch("/registry/core/pods/", 0);
  auto folder = watch("/registry/core/pods/one/", 0);
  auto single = watch(pod("a", "one"), 0);
  ASSERT_TRUE(run(put(pod("a", "one"), "1")));
  ASSERT_TRUE(run(put(pod("ab", "one"), "1")));
  ASSERT_TRUE(run(put(pod("a", "two"), "1")));
  ASSERT_TRUE(run(put("/registry/core/nodes/n", "1")));
  ASSERT_TRUE(run(del(pod("a", "one"))));
  EXPECT_EQ(take(*all), (Names{"+a@1", "+ab@2", "+a@3", "-a@5"}));
  EXPECT_EQ(take(*folder), (Names{"+a@1", "+ab@2", "-a@5"}));
  EXPECT_EQ(take(*single), (Names{"+a@1", "-a@5"}));
  EXPECT_EQ(take(*watch(pod("a", "one"), 0)), (Names{"+a@1", "-a@5"}));
  // The last changes are of other keys, so its revision is the newest.
  EXPECT_EQ(folder->revision(), 5u);
  EXPECT_EQ(store->watch("/registry/core/", 0).error().code, Code::invalid);
}

TEST_F(WatchTest, takes_in_pieces_but_never_splits_a_transaction) {
  open();
  auto watcher = watch("/registry/core/pods/", 0);
  Txn three = put(pod("a"), "1");
  three.ops.push_back(Op::put(pod("b"), bytes("1")));
  three.ops.push_back(Op::put(pod("c"), bytes("1")));
  ASSERT_TRUE(run(three));
  ASSERT_TRUE(run(put(pod("d"), "1")));
  EXPECT_EQ(take(*watcher, 1), (Names{"+a@1", "+b@1", "+c@1"}));
  EXPECT_EQ(watcher->revision(), 1u);
  EXPECT_EQ(take(*watcher, 1), Names{"+d@2"});
}

TEST_F(WatchTest, waits_for_a_revision_that_does_not_exist_yet) {
  open();
  auto watcher = watch("/registry/core/pods/", 2);
  write(3);
  EXPECT_EQ(take(*watcher), Names{"~a@3"});
}

TEST_F(WatchTest, a_start_that_is_too_old_is_expired) {
  options.history = {.min_age = 1min, .min_events = 3, .max_events = 5};
  open();
  write(10);
  EXPECT_EQ(store->watch("/registry/core/pods/", 4).error().code, Code::expired);
  EXPECT_EQ(take(*watch("/registry/core/pods/", 5)).size(), 5u);
  clock.advance(2min);
  write(1);
  EXPECT_EQ(store->watch("/registry/core/pods/", 7).error().code, Code::expired);
  EXPECT_EQ(take(*watch("/registry/core/pods/", 8)).size(), 3u);
  // Other resources have their own history.
  EXPECT_TRUE(store->watch("/registry/core/nodes/", 0));
}

TEST_F(WatchTest, history_is_bounded_by_bytes) {
  options.history = {.min_events = 1000, .max_bytes = 10'000};
  open();
  write(100);
  EXPECT_LE(store->stats().history_bytes, 10'000u);
  EXPECT_GT(store->stats().history_bytes, 9'000u);
}

TEST_F(WatchTest, a_slow_watcher_is_dropped_and_others_are_not) {
  options.watch = {.events = 10, .patience = 5s};
  open();
  auto slow = watch("/registry/core/pods/", 0);
  auto quick = watch("/registry/core/pods/", 0);
  auto elsewhere = watch("/registry/core/pods/other/", 0);
  write(20);
  EXPECT_EQ(take(*quick).size(), 20u);
  clock.advance(4s);
  write(1);
  EXPECT_FALSE(slow->lost());  // it has five seconds
  clock.advance(2s);
  write(1);
  EXPECT_TRUE(slow->lost());
  EXPECT_EQ(take(*slow), Names{"Gone"});
  EXPECT_EQ(slow->revision(), 0u);
  EXPECT_EQ(take(*quick).size(), 2u);
  EXPECT_FALSE(elsewhere->lost());
  EXPECT_EQ(store->stats().watchers, 2u);
}

TEST_F(WatchTest, a_watcher_that_catches_up_in_time_stays) {
  options.watch = {.events = 10, .patience = 5s};
  open();
  auto watcher = watch("/registry/core/pods/", 0);
  write(20);
  clock.advance(4s);
  EXPECT_EQ(take(*watcher, 15).size(), 15u);
  clock.advance(4s);
  write(10);
  EXPECT_FALSE(watcher->lost());
  EXPECT_EQ(take(*watcher).size(), 15u);
}

TEST_F(WatchTest, waits_until_a_change_or_a_time) {
  open();
  auto watcher = watch("/registry/core/pods/", 0);
  EXPECT_FALSE(run_to_end(loop, watcher->wait_until(clock.steady())));
  write(1);
  EXPECT_TRUE(run_to_end(loop, watcher->wait_until(clock.steady())));
  EXPECT_EQ(watcher->pending(), 1u);
}

TEST_F(WatchTest, waits_again_for_the_same_time_with_one_alarm) {
  open();
  auto watcher = watch("/registry/core/pods/", 0);
  const SteadyTime end = clock.steady() + 10s;
  TaskGroup group(loop.executor());
  std::vector<bool> seen;
  auto wait = [](Watcher& on, SteadyTime until, std::vector<bool>& out) -> Task<void> {
    out.push_back(co_await on.wait_until(until));
  };
  for (int i = 0; i < 3; ++i) {
    group.spawn("wait", wait(*watcher, end, seen));
    loop.run_ready();
    EXPECT_EQ(clock.sleepers(), 1u);
    write(1);
    loop.run_ready();
    EXPECT_EQ(take(*watcher).size(), 1u);
  }
  group.spawn("wait", wait(*watcher, end, seen));
  loop.run_ready();
  clock.advance(10s);
  loop.run_ready();
  EXPECT_EQ(seen, (std::vector<bool>{true, true, true, false}));
  group.spawn("wait", wait(*watcher, end + 5s, seen));
  loop.run_ready();
  clock.advance(5s);
  run_to_end(loop, group.join());
  EXPECT_EQ(seen.back(), false);
}

TEST_F(WatchTest, an_alarm_ends_with_its_watcher) {
  open();
  auto watcher = watch("/registry/core/pods/", 0);
  TaskGroup group(loop.executor());
  auto wait = [](Watcher& on, SteadyTime until) -> Task<void> {
    (void)co_await on.wait_until(until);
  };
  group.spawn("wait", wait(*watcher, clock.steady() + 10s));
  loop.run_ready();
  write(1);
  run_to_end(loop, group.join());
  EXPECT_EQ(clock.sleepers(), 1u);
  watcher.reset();
  loop.run_ready();
  EXPECT_EQ(clock.sleepers(), 0u);
}

TEST_F(WatchTest, a_filter_drops_unwanted_changes) {
  open();
  write(1, "old-a");
  write(1, "old-b");
  auto wanted = [](const Change& change) { return change.key().ends_with('a'); };
  auto watcher = std::move(*store->watch("/registry/core/pods/", 0, wanted));
  EXPECT_EQ(watcher->pending(), 1u);
  EXPECT_EQ(take(*watcher), Names{"+old-a@1"});
  write(5, "b");
  EXPECT_EQ(watcher->pending(), 0u);
  EXPECT_EQ(watcher->revision(), 7u);
  write(1, "a");
  write(1, "b");
  write(1, "aa");
  EXPECT_EQ(take(*watcher), (Names{"+a@8", "+aa@10"}));
}

TEST_F(WatchTest, large_changes_count_by_bytes) {
  options.watch = {.bytes = 2'000, .patience = 5s};
  open();
  auto watcher = watch("/registry/core/pods/", 0);
  write(10);
  clock.advance(6s);
  write(1);
  EXPECT_TRUE(watcher->lost());
}

TEST_F(WatchTest, a_watcher_whose_history_was_trimmed_is_dropped) {
  options.history = {.min_events = 5, .max_events = 5};
  open();
  auto watcher = watch("/registry/core/pods/", 0);
  write(6);
  EXPECT_EQ(take(*watcher), Names{"Gone"});
}

TEST_F(WatchTest, recovery_keeps_the_changes_in_the_log) {
  options.durability = Durability::os;
  open();
  write(3);
  ASSERT_TRUE(run_to_end(loop, store->compact()));
  write(2);
  open();
  EXPECT_EQ(store->watch("/registry/core/pods/", 2).error().code, Code::expired);
  EXPECT_EQ(take(*watch("/registry/core/pods/", 3)), (Names{"~a@4", "~a@5"}));
}

TEST_F(WatchTest, closing_the_store_ends_watches) {
  open();
  auto watcher = watch("/registry/core/pods/", 0);
  run_to_end(loop, store->close());
  EXPECT_EQ(take(*watcher), Names{"ServiceUnavailable"});
  store.reset();
  EXPECT_TRUE(watcher->lost());
}

}  // namespace
}  // namespace plim::local::store::testing
