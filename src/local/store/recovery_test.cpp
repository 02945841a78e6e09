// What a store recovers at its start: snapshots, logs, torn ends, damage; and the tools for that.
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "local/store/layout.hpp"
#include "local/store/maintenance.hpp"
#include "local/store/store_snapshot.hpp"
#include "local/store/testing/store_fixture.hpp"

namespace plim::local::store::testing {
namespace {

namespace fs = std::filesystem;

class RecoveryTest : public StoreTest {
 protected:
  RecoveryTest() { options.durability = Durability::os; }

  std::string log_path(std::uint64_t segment) const {
    return log_files(options.directory, 1).path_of(segment);
  }

  // Writes revisions 1 … n: even ones change what the odd ones before them created.
  void write(int n) {
    for (int i = 0; i < n; ++i)
      ASSERT_TRUE(run(put(pod(std::to_string(store->view().revision() / 2)), std::to_string(i))));
  }

  static std::string describe(const View& view) {
    std::string out = fmt::format("@{}", view.revision());
    for (const EntryPtr& entry : view.list("").entries)
      out += fmt::format(" {}={} {}/{}/{}", entry->key, *entry->value, entry->created,
                         entry->modified, entry->version);
    return out;
  }
};

TEST_F(RecoveryTest, a_restart_changes_nothing) {
  open();
  write(20);
  ASSERT_TRUE(run(del(pod("3"))));
  const std::string before = describe(store->view());
  const std::uint64_t live = store->stats().live_bytes;
  for (int restart = 0; restart < 3; ++restart) {
    open();
    EXPECT_EQ(describe(store->view()), before);
    EXPECT_EQ(store->stats().live_bytes, live);
  }
}

TEST_F(RecoveryTest, a_snapshot_replaces_the_log) {
  open();
  write(20);
  ASSERT_TRUE(run_to_end(loop, store->compact()));
  EXPECT_EQ(store->stats().snapshots, 1u);
  write(5);
  const std::string before = describe(store->view());
  const std::uint64_t live = store->stats().live_bytes;
  run_to_end(loop, store->close());
  EXPECT_FALSE(fs::exists(log_path(1)));
  EXPECT_TRUE(fs::exists(snapshot_path(options.directory, 20)));
  open();
  EXPECT_EQ(describe(store->view()), before);
  EXPECT_EQ(store->stats().live_bytes, live);
  ASSERT_TRUE(run_to_end(loop, store->compact()));
  EXPECT_FALSE(fs::exists(snapshot_path(options.directory, 20)));
  EXPECT_TRUE(fs::exists(snapshot_path(options.directory, 25)));
}

TEST_F(RecoveryTest, automatic_snapshots_limit_the_size_of_the_log) {
  options.min_log_bytes = 10'000;
  options.segment_bytes = 4'000;
  open();
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(run(put(pod("a"), std::string(200, 'x'))));
    // A thread writes snapshots: a slow disk must not fail this test.
    while (store->stats().log_bytes > 30'000)
      run_to_end(loop, system_clock().sleep(std::chrono::milliseconds(1)));
  }
  run_to_end(loop, store->close());
  EXPECT_GT(store->stats().snapshots, 2u);
  open();
  EXPECT_EQ(store->view().revision(), 500u);
  EXPECT_LE(store->stats().log_bytes, 40'000u);
}

TEST_F(RecoveryTest, leftovers_of_a_crash_during_a_snapshot_do_no_harm) {
  open();
  write(10);
  ASSERT_TRUE(run_to_end(loop, store->compact()));
  write(10);
  const std::string before = describe(store->view());
  store.reset();
  // An unfinished snapshot, an older one, and a segment that should have been removed.
  ASSERT_TRUE(write_file(snapshot_path(options.directory, 15) + ".tmp", "half a sna"));
  ASSERT_TRUE(write_snapshot(options.directory, View(5, Tree()), 1));
  ASSERT_TRUE(write_file(log_path(1), "anything"));
  open();
  EXPECT_EQ(describe(store->view()), before);
  EXPECT_FALSE(fs::exists(snapshot_path(options.directory, 15) + ".tmp"));
  EXPECT_FALSE(fs::exists(snapshot_path(options.directory, 5)));
  EXPECT_FALSE(fs::exists(log_path(1)));
}

TEST_F(RecoveryTest, a_log_cut_anywhere_recovers_all_complete_writes) {
  open();
  std::vector<std::string> states{describe(store->view())};
  for (int i = 0; i < 4; ++i) {
    write(1);
    states.push_back(describe(store->view()));
  }
  store.reset();
  const std::string log = *read_file(log_path(1));
  std::size_t last = 0;
  for (std::size_t size = 0; size <= log.size(); ++size) {
    ASSERT_TRUE(write_file(log_path(1), log.substr(0, size), {.sync = false}));
    auto opened = Store::open(loop.executor(), clock, options);
    ASSERT_TRUE(opened) << size << ": " << opened.error().message;
    const auto revision = (*opened)->view().revision();
    EXPECT_EQ(describe((*opened)->view()), states.at(revision));
    EXPECT_GE(revision, last);
    last = revision;
  }
  EXPECT_EQ(last, 4u);
}

TEST_F(RecoveryTest, every_flipped_byte_is_rejected_or_loses_only_the_last_write) {
  open();
  std::vector<std::string> states{describe(store->view())};
  for (int i = 0; i < 3; ++i) {
    write(1);
    states.push_back(describe(store->view()));
  }
  store.reset();
  const std::string log = *read_file(log_path(1));
  int refused = 0;
  for (std::size_t at = 0; at < log.size(); ++at) {
    std::string bad = log;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    ASSERT_TRUE(write_file(log_path(1), bad, {.sync = false}));
    auto opened = Store::open(loop.executor(), clock, options);
    if (opened) {
      EXPECT_EQ(describe((*opened)->view()), states.at(2)) << at;
    } else {
      ++refused;
      EXPECT_NE(opened.error().message.find(log_path(1)), std::string::npos);
      EXPECT_NE(opened.error().message.find("store verify"), std::string::npos);
    }
  }
  EXPECT_GT(refused, static_cast<int>(log.size() / 2));
}

TEST_F(RecoveryTest, a_snapshot_with_any_damaged_byte_is_rejected) {
  open();
  write(3);
  ASSERT_TRUE(run_to_end(loop, store->compact()));
  store.reset();
  const std::string path = snapshot_path(options.directory, 3);
  const std::string good = *read_file(path);
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    ASSERT_TRUE(write_file(path, bad, {.sync = false}));
    EXPECT_FALSE(read_snapshot(path)) << at;
    ASSERT_TRUE(write_file(path, good.substr(0, at), {.sync = false}));
    EXPECT_FALSE(read_snapshot(path)) << at;
  }
  ASSERT_TRUE(write_file(path, good));
  EXPECT_TRUE(read_snapshot(path));
}

TEST_F(RecoveryTest, a_missing_log_after_a_snapshot_is_rejected) {
  open();
  write(3);
  ASSERT_TRUE(run_to_end(loop, store->compact()));
  run_to_end(loop, store->close());
  store.reset();
  ASSERT_TRUE(remove_file(log_path(2)));
  EXPECT_FALSE(Store::open(loop.executor(), clock, options));
}

TEST_F(RecoveryTest, verify_reports_the_position_of_damage_and_repair_cuts_there) {
  open();
  write(4);
  store.reset();
  auto good = verify_store(options.directory);
  ASSERT_TRUE(good);
  EXPECT_EQ(good->revision, 4u);
  EXPECT_EQ(good->log.records, 4u);
  EXPECT_FALSE(good->log.damage || good->log.torn);

  std::string log = *read_file(log_path(1));
  const std::size_t third = log.find("/registry", log.find("/registry", 100) + 1);
  log[third] = '?';
  ASSERT_TRUE(write_file(log_path(1), log));
  auto bad = verify_store(options.directory);
  ASSERT_TRUE(bad);
  ASSERT_TRUE(bad->log.damage);
  EXPECT_EQ(bad->revision, bad->log.records);
  EXPECT_LT(bad->revision, 4u);
  ASSERT_TRUE(repair_store(options.directory, bad->log.damage->at));
  open();
  EXPECT_EQ(store->view().revision(), bad->revision);
  EXPECT_EQ(*run(put(pod("x"), "1")), bad->revision + 1);
  EXPECT_FALSE(repair_store(options.directory, {.segment = 1, .offset = 40}))
      << "while the store is open";
}

TEST_F(RecoveryTest, dump_and_compact_work_on_a_closed_store) {
  open();
  write(6);
  ASSERT_TRUE(run(put("/registry/core/nodes/n", "node")));
  store.reset();
  std::vector<std::string> keys;
  auto dumped = dump_store(options.directory, "/registry/core/pods/",
                           [&](const Entry& entry) { keys.push_back(entry.key); });
  ASSERT_TRUE(dumped);
  EXPECT_EQ(keys, (std::vector<std::string>{pod("0"), pod("1"), pod("2")}));
  auto stats = run_to_end(loop, compact_store(options.directory));
  ASSERT_TRUE(stats) << stats.error().message;
  EXPECT_EQ(stats->entries, 4u);
  auto verified = verify_store(options.directory);
  ASSERT_TRUE(verified);
  EXPECT_EQ(verified->snapshot, 7u);
  EXPECT_EQ(verified->log.records, 0u);
  EXPECT_EQ(verify_store(dir / "nothing").error().code, Code::not_found);
}

TEST_F(RecoveryTest, a_newer_format_is_rejected_with_a_hint) {
  open();
  store.reset();
  auto newer = RecordFile::make(record_kind("STOR"), 2, 1);
  ASSERT_TRUE(write_file(log_path(1), encode_header(newer)));
  auto opened = Store::open(loop.executor(), clock, options);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("newer version"), std::string::npos);
}

}  // namespace
}  // namespace plim::local::store::testing
