#include "servo/run_store.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/log.hpp"
#include "base/loop.hpp"
#include "base/testing/temp_dir.hpp"
#include "base/testing/tiny_disk.hpp"
#include "servo/testing/pods.hpp"

namespace plim::servo {
namespace {

using namespace std::chrono_literals;
using plim::testing::TempDir;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A store that is opened, used and stopped.
class StoreLife {
 public:
  explicit StoreLife(RunStore::Options options) {
    auto opened = RunStore::open(loop.executor(), std::move(options), metrics, clock);
    if (!opened) {
      error = opened.error();
      return;
    }
    store = std::move(*opened);
    auto on_stored = [this](const loop::RunRecord& run, JournalPosition) {
      stored.push_back(run.uid);
    };
    auto on_failing = [this](const loop::RunRecord& run, const Error&) {
      failing.push_back(run.uid);
    };
    store->start(
        on_stored, [this](const std::string& uid) { return present.contains(uid); }, on_failing);
  }

  ~StoreLife() {
    if (store) run_to_end(loop, store->stop());
  }

  void add(const std::string& uid, bool send = true, const std::string& app = "a") {
    store->add(testing::some_run(uid, app, clock.wall()), send);
  }

  // Runs the loop until this many runs are stored.
  void settle(std::size_t count) {
    auto wait = [](StoreLife& life, std::size_t wanted) -> Task<void> {
      while (life.stored.size() < wanted) co_await yield_to_loop();
    };
    run_to_end(loop, wait(*this, count));
  }

  std::vector<std::string> page(RunQuery query = {}) {
    auto page = run_to_end(loop, store->page(std::move(query)));
    std::vector<std::string> out;
    if (!page) return {page.error().message};
    for (const StoredRun& run : page->runs)
      out.push_back(run.run.uid + " " + std::string(name_of(run.state)));
    return out;
  }

  std::vector<std::string> unsent() {
    auto runs = run_to_end(loop, store->load(store->unsent_after({}, 1000)));
    std::vector<std::string> out;
    for (const StoredRun& run : *runs) out.push_back(run.run.uid);
    return out;
  }

  Loop loop;
  FakeClock clock;
  metrics::Registry registry;
  Metrics metrics{registry};
  std::set<std::string> present;
  std::vector<std::string> stored, failing;
  std::optional<Error> error;
  std::unique_ptr<RunStore> store;
};

// The states in the files, oldest run first.
std::vector<std::string> states_in(const std::string& directory) {
  auto page = read_store(directory, {});
  std::vector<std::string> out;
  if (!page) return {page.error().message};
  for (const StoredRun& run : page->runs) out.emplace_back(name_of(run.state));
  std::ranges::reverse(out);
  return out;
}

std::ptrdiff_t sent_in(const std::string& directory) {
  const auto states = states_in(directory);
  return std::ranges::count(states, "sent");
}

// Counts syncs; while it is closed they wait.
struct Gate {
  int sync(int fd) {
    ++syncs;
    syncs.notify_all();
    is_closed.wait(true);
    return ::fdatasync(fd);
  }

  void wait_for_syncs(int count) {
    for (int seen = syncs; seen < count; seen = syncs) syncs.wait(seen);
  }

  void open() {
    is_closed = false;
    is_closed.notify_all();
  }

  std::atomic<int> syncs = 0;
  std::atomic<bool> is_closed = false;
};

class RunStoreTest : public ::testing::Test {
 protected:
  RunStore::Options options() const { return {.directory = dir_ / "runs", .group = 0ms}; }

  // Opens a store whose syncs are counted from now on.
  RunStore::Options grouped(std::shared_ptr<std::atomic<int>> syncs = {}) const {
    RunStore::Options out = options();
    out.group = 40ms;
    if (syncs) out.sync = [syncs](int fd) { return ++*syncs, ::fdatasync(fd); };
    return out;
  }

  TempDir dir_{plim::testing::memory_directory()};
};

TEST_F(RunStoreTest, stores_a_run_once_and_reports_it_afterwards) {
  StoreLife life(options());
  life.add("u1");
  life.add("u1");
  life.add("u2", false);
  EXPECT_THAT(life.stored, IsEmpty());
  life.settle(2);
  life.add("u1");
  EXPECT_THAT(life.stored, ElementsAre("u1", "u2"));
  EXPECT_THAT(life.page(), ElementsAre("u2 kept", "u1 unsent"));
  EXPECT_THAT(life.unsent(), ElementsAre("u1"));
}

TEST_F(RunStoreTest, runs_that_come_close_together_share_a_sync) {
  RunStore::Options slow = options();
  slow.group = 40ms;
  auto gate = std::make_shared<Gate>();
  slow.sync = [gate](int fd) { return gate->sync(fd); };
  StoreLife life(slow);
  ASSERT_FALSE(life.error);
  const int before = gate->syncs;
  gate->is_closed = true;
  life.add("u1");
  life.loop.run_ready();  // the first run after a pause does not wait
  gate->wait_for_syncs(before + 1);
  for (int i = 0; i < 10; ++i) {
    life.add("more" + std::to_string(i));
    life.clock.advance(3ms);
    life.loop.run_ready();
  }
  EXPECT_THAT(states_in(slow.directory), ElementsAre("unsent"));
  life.clock.advance(10ms);
  life.loop.run_ready();
  gate->open();
  life.settle(11);
  EXPECT_EQ(gate->syncs, before + 2);
  life.clock.advance(41ms);
  life.add("u2");
  life.settle(12);
  EXPECT_EQ(gate->syncs, before + 3);
}

TEST_F(RunStoreTest, does_not_report_a_run_before_its_sync) {
  StoreLife life(grouped());
  life.add("u1");
  life.settle(1);
  life.add("u2");
  life.clock.advance(39ms);
  life.loop.run_ready();
  EXPECT_THAT(life.stored, ElementsAre("u1"));
  EXPECT_THAT(life.page(), ElementsAre("u1 unsent"));
  EXPECT_THAT(life.unsent(), ElementsAre("u1"));
  life.add("u2");  // seen again meanwhile: still one run
  life.clock.advance(1ms);
  life.settle(2);
  EXPECT_THAT(life.page(), ElementsAre("u2 unsent", "u1 unsent"));
}

TEST_F(RunStoreTest, does_not_show_runs_that_are_not_synced) {
  RunStore::Options slow = options();
  auto gate = std::make_shared<Gate>();
  slow.sync = [gate](int fd) { return gate->sync(fd); };
  StoreLife life(slow);
  ASSERT_FALSE(life.error);
  const int before = gate->syncs;
  gate->is_closed = true;
  life.add("u1");
  gate->wait_for_syncs(before + 1);
  EXPECT_THAT(states_in(slow.directory), ElementsAre("unsent"));
  EXPECT_THAT(life.page(), IsEmpty());
  gate->open();
  life.settle(1);
  EXPECT_THAT(life.page(), ElementsAre("u1 unsent"));
}

TEST_F(RunStoreTest, writes_marks_after_a_short_time_or_when_there_are_many) {
  auto syncs = std::make_shared<std::atomic<int>>(0);
  StoreLife life(grouped(syncs));
  auto mark = [&](int number) {
    life.store->mark(fmt::format("u{}/main/0", number), SendState::sent);
  };
  const std::string directory = options().directory;
  auto until_sent = [&](std::ptrdiff_t count) {
    auto wait = [](std::string in, std::ptrdiff_t wanted) -> Task<void> {
      while (sent_in(in) < wanted) co_await yield_to_loop();
    };
    run_to_end(life.loop, wait(directory, count));
  };
  for (int i = 0; i < 10; ++i) life.add("u" + std::to_string(i));
  life.settle(10);
  const int before = *syncs;
  mark(0);
  life.clock.advance(199ms);
  life.loop.run_ready();
  EXPECT_EQ(sent_in(directory), 0);
  EXPECT_EQ(life.store->unsent(), 9u);
  life.clock.advance(1ms);
  until_sent(1);
  for (int i = 1; i < 9; ++i) mark(i);
  until_sent(9);
  mark(9);
  EXPECT_EQ(*syncs, before);
  life.add("next");
  life.settle(11);
  EXPECT_EQ(sent_in(directory), 10);
  EXPECT_EQ(*syncs, before + 1);
}

TEST_F(RunStoreTest, stop_writes_what_waits) {
  {
    StoreLife life(grouped());
    life.add("u1");
    life.settle(1);
    life.store->mark("u1/main/0", SendState::sent);
    life.add("u2");
  }
  StoreLife life(grouped());
  EXPECT_THAT(life.page(), ElementsAre("u2 unsent", "u1 sent"));
}

TEST_F(RunStoreTest, knows_stored_sent_and_dead_runs_after_a_restart) {
  {
    StoreLife life(options());
    for (const char* uid : {"u1", "u2", "u3"}) life.add(uid);
    life.settle(3);
    life.store->mark("u1/main/0", SendState::sent);
    life.store->mark("u2/main/0", SendState::dead, "400");
  }
  StoreLife life(options());
  EXPECT_THAT(life.page(), ElementsAre("u3 unsent", "u2 dead", "u1 sent"));
  EXPECT_THAT(life.unsent(), ElementsAre("u3"));
  life.add("u1");
  life.add("u4");
  life.settle(1);
  EXPECT_THAT(life.stored, ElementsAre("u4"));
}

TEST_F(RunStoreTest, files_can_be_read_without_the_servo) {
  StoreLife life(options());
  for (const char* uid : {"u1", "u2"}) life.add(uid);
  life.settle(2);
  life.store->mark("u1/main/0", SendState::sent);
  life.add("u3");
  life.settle(3);
  auto page = read_store(options().directory, {});
  ASSERT_TRUE(page) << page.error().message;
  ASSERT_EQ(page->runs.size(), 3u);
  EXPECT_EQ(page->runs[2].state, SendState::sent);
  EXPECT_EQ(page->runs[1].state, SendState::unsent);
}

TEST_F(RunStoreTest, only_one_process_can_open_it) {
  StoreLife first(options());
  StoreLife second(options());
  ASSERT_TRUE(second.error);
  EXPECT_EQ(second.error->code, Code::already_exists);
}

TEST_F(RunStoreTest, answers_queries_page_by_page) {
  RunStore::Options small = options();
  small.segment_bytes = 2000;  // so that pages cross segments
  StoreLife life(small);
  for (int i = 0; i < 20; ++i) life.add(std::to_string(i), false, i % 2 == 0 ? "even" : "odd");
  life.settle(20);
  RunQuery query{.app = "odd", .limit = 3};
  std::vector<std::string> seen;
  for (int pages = 0; pages < 10; ++pages) {
    auto page = run_to_end(life.loop, life.store->page(query));
    ASSERT_TRUE(page);
    for (const StoredRun& run : page->runs) seen.push_back(run.run.uid);
    if (!page->next) break;
    query.before = page->next;
  }
  EXPECT_THAT(seen, ElementsAre("19", "17", "15", "13", "11", "9", "7", "5", "3", "1"));
  RunQuery none{.pod = "nobody"};
  EXPECT_THAT(life.page(none), IsEmpty());
  auto of_pod = run_to_end(life.loop, life.store->of_pod("7"));
  ASSERT_EQ(of_pod->size(), 1u);
  EXPECT_TRUE(run_to_end(life.loop, life.store->of_pod("1"))->at(0).run.uid == "1");
}

TEST_F(RunStoreTest, since_leaves_out_older_runs) {
  StoreLife life(options());
  life.add("old", false);
  life.settle(1);
  life.clock.advance(2h);
  life.add("new", false);
  life.settle(2);
  RunQuery query{.since = life.clock.wall() - 1h};
  EXPECT_THAT(life.page(query), ElementsAre("new kept"));
}

// Cuts the last segment at every byte of its last record.
TEST_F(RunStoreTest, a_torn_end_costs_only_what_was_not_acknowledged) {
  {
    StoreLife life(options());
    life.add("u1");
    life.add("u2");
    life.settle(2);
  }
  const std::string file = run_files(options().directory).path_of(1);
  const std::string whole = *read_file(file);
  std::uint64_t last = 0;
  ASSERT_TRUE(scan_journal(run_files(options().directory),
                           [&](JournalPosition at, std::string_view) -> Result<void> {
                             last = at.offset;
                             return {};
                           }));
  log::Capture quiet;
  for (std::size_t size = last; size <= whole.size(); ++size) {
    ASSERT_TRUE(write_file(file, std::string_view(whole).substr(0, size), {.sync = false}));
    StoreLife life(options());
    ASSERT_FALSE(life.error) << size << ": " << life.error->message;
    if (size < whole.size()) {
      EXPECT_THAT(life.page(), ElementsAre("u1 unsent")) << size;
    } else {
      EXPECT_THAT(life.page(), ElementsAre("u2 unsent", "u1 unsent"));
    }
  }
}

// The disk is full, and later has room again.
TEST_F(RunStoreTest, a_full_disk_delays_runs_but_loses_none) {
  plim::testing::with_tiny_disk(256 << 10, [](const plim::testing::TinyDisk& disk) {
    const RunStore::Options options{.directory = disk.path + "/runs", .group = 0ms};
    {
      StoreLife life(options);
      ASSERT_FALSE(life.error) << life.error->message;
      life.add("before");
      life.settle(1);
      disk.fill();
      for (int i = 0; i < 100; ++i) life.add("during" + std::to_string(i));
      auto until_failing = [](StoreLife& l) -> Task<void> {
        while (l.metrics.store_failing.value() == 0) co_await yield_to_loop();
      };
      run_to_end(life.loop, until_failing(life));
      EXPECT_LT(life.stored.size(), 101u);
      EXPECT_EQ(life.failing.size(), 1u);
      disk.make_room();
      auto until_all = [](StoreLife& l) -> Task<void> {
        while (l.stored.size() < 101 || l.metrics.store_failing.value() != 0) {
          l.clock.advance_to_next();
          co_await yield_to_loop();
        }
      };
      run_to_end(life.loop, until_all(life));
    }
    StoreLife again(options);
    EXPECT_EQ(again.unsent().size(), 101u);
  });
}

TEST_F(RunStoreTest, writes_marks_that_found_no_room_later_and_recovers) {
  plim::testing::with_tiny_disk(256 << 10, [](const plim::testing::TinyDisk& disk) {
    const RunStore::Options options{.directory = disk.path + "/runs", .group = 0ms};
    {
      StoreLife life(options);
      ASSERT_FALSE(life.error) << life.error->message;
      for (const char* uid : {"u1", "u2"}) life.add(uid);
      life.settle(2);
      disk.fill();
      for (const char* key : {"u1/main/0", "u2/main/0"})
        life.store->mark(key, SendState::dead, std::string(10'000, 'x'));
      auto until = [](StoreLife& l, double failing) -> Task<void> {
        while (l.metrics.store_failing.value() != failing) {
          if (failing == 0) l.clock.advance_to_next();
          co_await yield_to_loop();
        }
      };
      run_to_end(life.loop, until(life, 1));
      disk.make_room();
      run_to_end(life.loop, until(life, 0));
    }
    StoreLife again(options);
    EXPECT_THAT(again.page(), ElementsAre("u2 dead", "u1 dead"));
  });
}

TEST_F(RunStoreTest, drops_runs_beyond_the_limit_and_asks_for_them_again) {
  RunStore::Options failing = options();
  failing.most_unwritten = 5;
  auto broken = std::make_shared<std::atomic<bool>>(true);
  failing.sync = [broken](int) {
    if (!*broken) return 0;
    errno = ENOSPC;
    return -1;
  };
  *broken = false;
  StoreLife life(failing);
  ASSERT_FALSE(life.error);
  *broken = true;
  for (int i = 0; i < 20; ++i) {
    life.add(std::to_string(i));
    auto pause = [](StoreLife& l) -> Task<void> {
      while (l.metrics.store_failing.value() == 0) co_await yield_to_loop();
      for (int k = 0; k < 100; ++k) co_await yield_to_loop();
    };
    run_to_end(life.loop, pause(life));
  }
  EXPECT_FALSE(life.store->take_refused());
  *broken = false;
  auto until_taken = [](StoreLife& l) -> Task<void> {
    while (!l.store->take_refused()) {
      l.clock.advance_to_next();
      co_await yield_to_loop();
    }
  };
  run_to_end(life.loop, until_taken(life));
  EXPECT_FALSE(life.store->take_refused());
  for (int i = 0; i < 20; ++i) life.add(std::to_string(i));
  life.settle(20);
}

TEST_F(RunStoreTest, deletes_old_runs_but_not_unsent_ones_nor_keys_of_present_pods) {
  RunStore::Options small = options();
  small.segment_bytes = 1500;
  {
    StoreLife life(small);
    for (int i = 0; i < 10; ++i) life.add("old" + std::to_string(i), false);
    life.settle(10);
    life.add("waits", true);
    life.settle(11);
    life.clock.advance(91 * 24h);
    for (int i = 0; i < 5; ++i) life.add("new" + std::to_string(i), false);
    life.settle(16);
    life.present.insert("old3");
    run_to_end(life.loop, life.store->forget_old());
    EXPECT_THAT(life.unsent(), ElementsAre("waits"));
    RunQuery all{.limit = 1000};
    EXPECT_LE(life.page(all).size(), 9u);
    life.add("old3");
    EXPECT_EQ(life.stored.size(), 16u);
    life.store->mark("waits/main/0", SendState::sent);
    run_to_end(life.loop, life.store->forget_old());
  }
  StoreLife life(small);
  ASSERT_FALSE(life.error);
  life.add("old3");
  life.add("old4");
  life.settle(1);
  EXPECT_THAT(life.stored, ElementsAre("old4"));
}

TEST_F(RunStoreTest, stays_below_its_maximum_size_and_keeps_recent_keys) {
  RunStore::Options small = options();
  small.segment_bytes = 4000;
  small.max_bytes = 20'000;
  StoreLife life(small);
  for (int i = 0; i < 100; ++i) life.add(std::to_string(i), false);
  life.settle(100);
  run_to_end(life.loop, life.store->forget_old());
  std::uintmax_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(small.directory))
    bytes += file.file_size();
  EXPECT_LE(bytes, 26'000u);
  for (int i = 0; i < 100; ++i) life.add(std::to_string(i), false);
  EXPECT_EQ(life.stored.size(), 100u);
}

}  // namespace
}  // namespace plim::servo
