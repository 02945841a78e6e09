#include "local/store/store.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/testing/tiny_disk.hpp"
#include "local/store/testing/store_fixture.hpp"

namespace plim::local::store::testing {
namespace {

using namespace std::chrono_literals;

TEST_F(StoreTest, counts_revisions_and_versions) {
  open();
  EXPECT_EQ(store->view().revision(), 0u);
  EXPECT_EQ(store->next_revision(), 1u);
  EXPECT_EQ(*run(put(pod("a"), "1")), 1u);
  EXPECT_EQ(*run(put(pod("b"), "1")), 2u);
  EXPECT_EQ(*run(put(pod("a"), "2")), 3u);
  const EntryPtr a = store->get(pod("a"));
  ASSERT_TRUE(a);
  EXPECT_EQ(*a->value, "2");
  EXPECT_EQ(a->created, 1u);
  EXPECT_EQ(a->modified, 3u);
  EXPECT_EQ(a->version, 2u);
  EXPECT_EQ(*run(del(pod("a"))), 4u);
  EXPECT_FALSE(store->get(pod("a")));
  EXPECT_EQ(*run(put(pod("a"), "3")), 5u);
  EXPECT_EQ(store->get(pod("a"))->created, 5u);
  EXPECT_EQ(store->get(pod("a"))->version, 1u);
}

TEST_F(StoreTest, writes_only_if_all_comparisons_hold) {
  open();
  ASSERT_TRUE(run(put(pod("a"), "1")));
  auto with = [](std::vector<Compare> compares) {
    Txn txn = put(pod("b"), "x");
    txn.compares = std::move(compares);
    return txn;
  };
  EXPECT_EQ(run(with({{pod("a"), 0}})).error().code, Code::already_exists);
  EXPECT_EQ(run(with({{pod("a"), 7}})).error().code, Code::conflict);
  EXPECT_EQ(run(with({{pod("c"), 1}})).error().code, Code::not_found);
  EXPECT_EQ(run(with({{pod("a"), 1}, {pod("a"), 2}})).error().code, Code::conflict);
  EXPECT_EQ(run(del(pod("c"))).error().code, Code::not_found);
  EXPECT_EQ(store->view().revision(), 1u);
  EXPECT_EQ(*run(with({{pod("a"), 1}, {pod("b"), 0}})), 2u);
}

TEST_F(StoreTest, rejects_invalid_transactions) {
  open();
  EXPECT_EQ(run(put("pods/a", "x")).error().code, Code::invalid);
  EXPECT_EQ(run(put("/registry/core/pods", "x")).error().code, Code::invalid);
  Txn twice = put(pod("a"), "1");
  twice.ops.push_back(Op::put(pod("a"), bytes("2")));
  EXPECT_EQ(run(twice).error().code, Code::invalid);
  EXPECT_EQ(run(put(pod("a"), std::string(kMaxRecord, 'x'))).error().code, Code::too_large);
  EXPECT_EQ(store->view().revision(), 0u);
}

TEST_F(StoreTest, a_transaction_of_many_operations_has_one_revision) {
  open();
  ASSERT_TRUE(run(put(pod("old"), "1")));
  Txn txn = put(pod("a"), "1");
  txn.ops.push_back(Op::put(pod("b"), bytes("2")));
  txn.ops.push_back(Op::del(pod("old")));
  EXPECT_EQ(*run(txn), 2u);
  EXPECT_EQ(store->get(pod("a"))->modified, 2u);
  EXPECT_EQ(store->get(pod("b"))->modified, 2u);
  EXPECT_FALSE(store->get(pod("old")));
  open();
  EXPECT_EQ(store->view().revision(), 2u);
  EXPECT_EQ(value_of(pod("b")), "2");
}

TEST_F(StoreTest, a_write_is_invisible_before_it_is_durable) {
  open();
  ASSERT_TRUE(run(put(pod("a"), "old")));
  disk.set_closed(true);
  Crowd crowd(loop.executor());
  crowd.add(store->txn(put(pod("a"), "new")));
  // Checked against the write under way: its result depends on that write, so it has to wait too.
  Txn stale = put(pod("a"), "newer");
  stale.compares = {{pod("a"), 1}};
  crowd.add(store->txn(stale));
  crowd.add(store->txn({.compares = {{pod("a"), 2}}}));
  EXPECT_EQ(store->next_revision(), 3u);
  auto watcher = store->watch(pod("a"), 1);
  ASSERT_TRUE(watcher);
  loop.run_ready();
  EXPECT_EQ(crowd.done(), 0u);
  EXPECT_EQ(value_of(pod("a")), "old");
  EXPECT_EQ(store->view().revision(), 1u);
  EXPECT_EQ((*watcher)->pending(), 0u);
  disk.set_closed(false);
  crowd.join(loop);
  EXPECT_EQ(*crowd[0], 2u);
  EXPECT_EQ(crowd[1].error().code, Code::conflict);
  EXPECT_EQ(*crowd[2], 2u);
  EXPECT_EQ(value_of(pod("a")), "new");
  EXPECT_EQ((*watcher)->pending(), 1u);
}

TEST_F(StoreTest, writes_under_way_keep_their_order) {
  open();
  Crowd crowd(loop.executor());
  for (int i = 0; i < 100; ++i) {
    Txn txn = put(pod("a"), std::to_string(i));
    txn.compares = {{pod("a"), static_cast<Revision>(i)}};
    crowd.add(store->txn(txn));
  }
  crowd.join(loop);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(*crowd[i], i + 1);
  EXPECT_EQ(value_of(pod("a")), "99");
}

TEST_F(StoreTest, a_failed_write_undoes_itself_and_all_later_ones) {
  open();
  ASSERT_TRUE(run(put(pod("a"), "good")));
  const std::uint64_t live = store->stats().live_bytes;
  disk.set_broken(true);
  Crowd crowd(loop.executor());
  for (int i = 0; i < 3; ++i) crowd.add(store->txn(put(pod("b"), std::string(100, 'x'))));
  crowd.add(store->txn({.compares = {{pod("b"), 0}}}));
  crowd.join(loop);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(crowd[i].error().errno_value, EIO);
  EXPECT_FALSE(store->get(pod("b")));
  EXPECT_EQ(store->stats().live_bytes, live);
  disk.set_broken(false);
  EXPECT_EQ(*run(put(pod("a"), "better")), 2u);
  open();
  EXPECT_EQ(store->view().revision(), 2u);
  EXPECT_EQ(value_of(pod("a")), "better");
  EXPECT_FALSE(store->get(pod("b")));
}

TEST_F(StoreTest, shows_old_revisions_until_they_expire) {
  options.max_views = 5;
  open();
  for (int i = 1; i <= 10; ++i) ASSERT_TRUE(run(put(pod("a"), std::to_string(i))));
  const View held = store->view();
  EXPECT_EQ(*store->view_at(6)->get(pod("a"))->value, "6");
  EXPECT_EQ(*store->view_at(10)->get(pod("a"))->value, "10");
  EXPECT_EQ(store->view_at(5).error().code, Code::expired);
  EXPECT_EQ(store->view_at(11).error().code, Code::unavailable);
  clock.advance(6min);
  ASSERT_TRUE(run(put(pod("a"), "11")));
  EXPECT_EQ(store->view_at(9).error().code, Code::expired);
  // The newest revision does not count as old.
  EXPECT_TRUE(store->view_at(10));
  EXPECT_EQ(*held.get(pod("a"))->value, "10");
}

TEST_F(StoreTest, waits_for_a_revision) {
  open();
  TaskGroup group(loop.executor());
  std::vector<bool> reached;
  auto wait = [](Store& s, SteadyTime until, std::vector<bool>& out) -> Task<void> {
    const bool in_time = co_await s.wait_for(2, until);
    out.push_back(in_time);
  };
  group.spawn("short", wait(*store, clock.steady() + 3s, reached));
  loop.run_ready();
  clock.advance(3s);
  loop.run_ready();
  EXPECT_EQ(reached, std::vector<bool>{false});
  group.spawn("long", wait(*store, clock.steady() + 3s, reached));
  ASSERT_TRUE(run(put(pod("a"), "1")));
  EXPECT_EQ(reached.size(), 1u);
  ASSERT_TRUE(run(put(pod("a"), "2")));
  loop.run_ready();
  EXPECT_EQ(reached, (std::vector<bool>{false, true}));
  EXPECT_TRUE(run_to_end(loop, store->wait_for(1, clock.steady())));
  run_to_end(loop, group.join());
}

TEST_F(StoreTest, counts_memory_and_rejects_writes_beyond_the_limit) {
  options.max_live_bytes = 10'000;
  open();
  ASSERT_TRUE(run(put(pod("a"), std::string(5'000, 'x'))));
  EXPECT_GT(store->stats().live_bytes, 5'000u);
  auto full = run(put(pod("b"), std::string(5'000, 'x')));
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, Code::internal);
  EXPECT_NE(full.error().message.find("the store is full"), std::string::npos);
  EXPECT_TRUE(run(put(pod("a"), std::string(4'000, 'x'))));
  EXPECT_TRUE(run(del(pod("a"))));
  EXPECT_EQ(store->stats().live_bytes, 0u);
  EXPECT_TRUE(run(put(pod("b"), std::string(5'000, 'x'))));
}

TEST_F(StoreTest, a_full_disk_fails_writes_but_not_reads) {
  plim::testing::with_tiny_disk(256 << 10, [](const plim::testing::TinyDisk& tiny) {
    Loop own_loop;
    FakeClock own_clock;
    StoreOptions own{.directory = tiny.path + "/store"};
    {
      auto opened = Store::open(own_loop.executor(), own_clock, own);
      ASSERT_TRUE(opened) << opened.error().message;
      Store& s = **opened;
      ASSERT_TRUE(run_to_end(own_loop, s.txn(put(pod("a"), "good"))));
      tiny.fill();
      EXPECT_FALSE(run_to_end(own_loop, s.txn(put(pod("b"), std::string(50'000, 'x')))));
      EXPECT_FALSE(run_to_end(own_loop, s.compact()));
      EXPECT_EQ(*s.get(pod("a"))->value, "good");
      tiny.make_room();
      EXPECT_EQ(*run_to_end(own_loop, s.txn(put(pod("c"), std::string(50'000, 'x')))), 2u);
      EXPECT_TRUE(run_to_end(own_loop, s.compact()));
    }
    auto opened = Store::open(own_loop.executor(), own_clock, own);
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_EQ((*opened)->view().revision(), 2u);
  });
}

TEST_F(StoreTest, closing_completes_writes_and_rejects_new_ones) {
  open();
  Crowd crowd(loop.executor());
  crowd.add(store->txn(put(pod("a"), "1")));
  run_to_end(loop, store->close());
  loop.run_ready();
  ASSERT_EQ(crowd.done(), 1u);
  EXPECT_TRUE(crowd[0]);
  EXPECT_EQ(run(put(pod("a"), "2")).error().code, Code::unavailable);
}

TEST_F(StoreTest, without_durability_it_leaves_no_files) {
  options.durability = Durability::none;
  open();
  EXPECT_TRUE(run(put(pod("a"), "1")));
  EXPECT_TRUE(run_to_end(loop, store->compact()));
  EXPECT_FALSE(std::filesystem::exists(options.directory));
}

TEST_F(StoreTest, only_one_process_can_open_it) {
  open();
  auto second = Store::open(loop.executor(), clock, options);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::already_exists);
}

}  // namespace
}  // namespace plim::local::store::testing
