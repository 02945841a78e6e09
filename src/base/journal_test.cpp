#include "base/journal.hpp"

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/loop.hpp"
#include "base/record_file.hpp"
#include "base/testing/temp_dir.hpp"
#include "base/testing/tiny_disk.hpp"

namespace plim {
namespace {

using testing::TempDir;

JournalOptions options_in(const std::string& directory) {
  JournalOptions out;
  out.files = {.directory = directory, .kind = record_kind("TEST"), .version = 1};
  return out;
}

struct Opened {
  std::unique_ptr<Journal> journal;
  std::vector<std::string> records;
};

Result<Opened> open(Loop& loop, JournalOptions options) {
  Opened out;
  auto replay = [&](JournalPosition, std::string_view record) {
    out.records.emplace_back(record);
    return Result<void>();
  };
  PLIM_TRY(out.journal, Journal::open(loop.executor(), std::move(options), replay));
  return out;
}

std::vector<std::string> records_in(const JournalOptions& options) {
  Loop loop;
  auto opened = open(loop, options);
  EXPECT_TRUE(opened) << opened.error().message;
  return opened ? opened->records : std::vector<std::string>();
}

Result<JournalPosition> write(Loop& loop, Journal& journal, std::string record) {
  return run_to_end(loop, journal.write(std::move(record)));
}

// Runs the loop until all of `results` have arrived.
Task<void> wait_for_all(std::vector<Result<JournalPosition>>& results, std::size_t count) {
  while (results.size() < count) co_await yield_to_loop();
}

// A disk under control of the test: each sync waits until it is released.
class Gate {
 public:
  void open() {
    {
      const std::scoped_lock guard(mutex_);
      is_open_ = true;
    }
    changed_.notify_all();
  }

  int sync(int fd) {
    std::unique_lock guard(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(guard, [this] { return is_open_; });
    return ::fdatasync(fd);
  }

  void wait_for_syncs(int count) {
    std::unique_lock guard(mutex_);
    changed_.wait(guard, [&] { return waiting_ >= count; });
  }

  int syncs() {
    const std::scoped_lock guard(mutex_);
    return waiting_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
  int waiting_ = 0;
};

TEST(Journal, reads_records_after_a_restart) {
  TempDir dir;
  Loop loop;
  {
    auto opened = open(loop, options_in(dir.path()));
    ASSERT_TRUE(opened) << opened.error().message;
    ASSERT_TRUE(write(loop, *opened->journal, "one"));
    ASSERT_TRUE(write(loop, *opened->journal, ""));
    ASSERT_TRUE(write(loop, *opened->journal, std::string(100'000, 'x')));
  }
  EXPECT_EQ(records_in(options_in(dir.path())),
            (std::vector<std::string>{"one", "", std::string(100'000, 'x')}));
}

TEST(Journal, acknowledges_after_the_sync_and_syncs_once_for_all_queued_records) {
  TempDir dir;
  Loop loop;
  Gate gate;
  JournalOptions options = options_in(dir.path());
  std::atomic<bool> started = false;
  options.sync = [&](int fd) { return started ? gate.sync(fd) : ::fdatasync(fd); };
  auto opened = open(loop, options);
  ASSERT_TRUE(opened);
  started = true;
  std::vector<Result<JournalPosition>> results;
  auto done = [&](Result<JournalPosition> result) { results.push_back(std::move(result)); };
  opened->journal->append("first", done);
  gate.wait_for_syncs(1);
  for (int i = 0; i < 50; ++i) opened->journal->append("more", done);
  loop.run_ready();
  EXPECT_TRUE(results.empty());
  gate.open();
  run_to_end(loop, wait_for_all(results, 51));
  EXPECT_EQ(gate.syncs(), 2);
  for (std::size_t i = 0; i < results.size(); ++i) {
    ASSERT_TRUE(results[i]);
    if (i > 0) {
      EXPECT_LT(*results[i - 1], *results[i]);
    }
  }
}

TEST(Journal, notes_need_no_sync_and_are_read_after_a_restart) {
  TempDir dir;
  Loop loop;
  std::atomic<int> syncs = 0;
  JournalOptions options = options_in(dir.path());
  options.sync = [&](int fd) { return ++syncs, ::fdatasync(fd); };
  {
    auto opened = open(loop, options);
    ASSERT_TRUE(opened);
    ASSERT_TRUE(write(loop, *opened->journal, "one"));
    const int before = syncs;
    for (int i = 0; i < 3; ++i) opened->journal->note("note", {});
    opened->journal.reset();
    EXPECT_EQ(syncs, before);
  }
  auto opened = open(loop, options);
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->records, (std::vector<std::string>{"one", "note", "note", "note"}));
  opened->journal->note("last", {});
  const int before = syncs;
  ASSERT_TRUE(write(loop, *opened->journal, "two"));
  EXPECT_EQ(syncs, before + 1);
  opened->journal.reset();
  EXPECT_EQ(records_in(options),
            (std::vector<std::string>{"one", "note", "note", "note", "last", "two"}));
}

// The machine may write pages in any order: without a sync, a later note may exist without an
// earlier one. That is not damage, since neither was acknowledged.
TEST(Journal, notes_torn_out_of_order_are_cut_off) {
  TempDir dir;
  Loop loop;
  const JournalOptions options = options_in(dir.path());
  const std::string path = options.files.path_of(1);
  std::uint64_t first = 0;
  {
    auto opened = open(loop, options);
    ASSERT_TRUE(opened);
    Journal& journal = *opened->journal;
    ASSERT_TRUE(write(loop, journal, "one"));
    first = std::filesystem::file_size(path);
    const std::uint64_t before = journal.bytes();
    journal.note("first", {});
    while (journal.bytes() == before) std::this_thread::yield();
    journal.note("second", {});
  }
  EXPECT_EQ(records_in(options), (std::vector<std::string>{"one", "first", "second"}));
  std::string bytes = *read_file(path);
  bytes[first + kRecordHeader] = '?';
  ASSERT_TRUE(write_file(path, bytes));
  EXPECT_EQ(records_in(options), std::vector<std::string>{"one"});
}

TEST(Journal, cuts_off_a_torn_end_and_continues) {
  TempDir dir;
  Loop loop;
  const JournalOptions options = options_in(dir.path());
  {
    auto opened = open(loop, options);
    ASSERT_TRUE(write(loop, *opened->journal, "kept"));
    ASSERT_TRUE(write(loop, *opened->journal, "torn"));
  }
  const std::string path = options.files.path_of(1);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  {
    auto opened = open(loop, options);
    ASSERT_TRUE(opened);
    EXPECT_EQ(opened->records, std::vector<std::string>{"kept"});
    ASSERT_TRUE(write(loop, *opened->journal, "new"));
  }
  EXPECT_EQ(records_in(options), (std::vector<std::string>{"kept", "new"}));
}

TEST(Journal, reports_the_position_of_damage_and_can_be_cut_there) {
  TempDir dir;
  Loop loop;
  const JournalOptions options = options_in(dir.path());
  JournalPosition second;
  {
    auto opened = open(loop, options);
    ASSERT_TRUE(write(loop, *opened->journal, "first"));
    second = *write(loop, *opened->journal, "second");
    ASSERT_TRUE(write(loop, *opened->journal, "third"));
  }
  const std::string path = options.files.path_of(1);
  std::string bytes = *read_file(path);
  bytes[second.offset + kRecordHeader] = '?';
  ASSERT_TRUE(write_file(path, bytes));
  auto refused = open(loop, options);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find(fmt::format("{}, offset {}", path, second.offset)),
            std::string::npos)
      << refused.error().message;

  auto elsewhere = cut_journal(options.files, {.segment = 1, .offset = second.offset - 1});
  EXPECT_FALSE(elsewhere);
  EXPECT_FALSE(cut_journal(options.files, {.segment = 1, .offset = second.offset + 1}));
  EXPECT_FALSE(cut_journal(options.files, {.segment = 0, .offset = 0}));
  ASSERT_TRUE(cut_journal(options.files, second));
  EXPECT_EQ(records_in(options), std::vector<std::string>{"first"});
  EXPECT_EQ(read_file(path + ".cut"), bytes.substr(second.offset));
}

TEST(Journal, continues_in_new_segments_and_removes_old_ones) {
  TempDir dir;
  Loop loop;
  JournalOptions options = options_in(dir.path());
  options.segment_bytes = 200;
  std::vector<std::string> all;
  {
    auto opened = open(loop, options);
    for (int i = 0; i < 20; ++i) {
      all.push_back(fmt::format("record {} {}", i, std::string(50, '.')));
      ASSERT_TRUE(write(loop, *opened->journal, all.back()));
    }
    std::uintmax_t on_disk = 0;
    for (const auto& entry : std::filesystem::directory_iterator(dir.path()))
      on_disk += entry.file_size();
    EXPECT_EQ(opened->journal->bytes(), on_disk);
  }
  EXPECT_GT(list_segments(dir.path())->size(), 5u);
  EXPECT_EQ(records_in(options), all);
  {
    auto opened = open(loop, options);
    std::vector<Result<JournalPosition>> results;
    opened->journal->start_segment([&](auto result) { results.push_back(std::move(result)); });
    run_to_end(loop, wait_for_all(results, 1));
    ASSERT_TRUE(results[0]);
    opened->journal->remove_before(results[0]->segment);
    ASSERT_TRUE(write(loop, *opened->journal, "after"));
    EXPECT_EQ(*list_segments(dir.path()), std::vector<std::uint64_t>{results[0]->segment});
    EXPECT_LT(opened->journal->bytes(), 200u);
  }
  EXPECT_EQ(records_in(options), std::vector<std::string>{"after"});
}

TEST(Journal, a_missing_segment_is_damage) {
  TempDir dir;
  Loop loop;
  JournalOptions options = options_in(dir.path());
  options.segment_bytes = 1;
  {
    auto opened = open(loop, options);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(write(loop, *opened->journal, "x"));
  }
  ASSERT_TRUE(remove_file(options.files.path_of(3)));  // 1 is empty, 2 to 4 have a record each
  auto refused = open(loop, options);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find(options.files.path_of(3)), std::string::npos);
  ASSERT_TRUE(cut_journal(options.files, {.segment = 3, .offset = 0}));
  EXPECT_EQ(records_in(options).size(), 1u);
  options.files.first_segment = 9;
  EXPECT_FALSE(open(loop, options));
  options.files.first_segment = 3;
  EXPECT_EQ(records_in(options).size(), 0u);
  EXPECT_EQ(*list_segments(dir.path()), std::vector<std::uint64_t>{3});
}

TEST(Journal, a_segment_with_the_name_of_another_is_damage) {
  TempDir dir;
  Loop loop;
  JournalOptions options = options_in(dir.path());
  options.segment_bytes = 1;
  {
    auto opened = open(loop, options);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(write(loop, *opened->journal, "x"));
  }
  std::filesystem::copy_file(options.files.path_of(2), options.files.path_of(3),
                             std::filesystem::copy_options::overwrite_existing);
  int visited = 0;
  auto scan = scan_journal(options.files, [&](JournalPosition, std::string_view) {
    ++visited;
    return Result<void>();
  });
  ASSERT_TRUE(scan && scan->damage);
  EXPECT_EQ(scan->damage->at, (JournalPosition{.segment = 3, .offset = 0}));
  EXPECT_EQ(visited, 1);
  ASSERT_TRUE(cut_journal(options.files, scan->damage->at));
  EXPECT_EQ(records_in(options).size(), 1u);
}

TEST(Journal, a_torn_record_in_an_older_segment_is_damage) {
  TempDir dir;
  Loop loop;
  JournalOptions options = options_in(dir.path());
  options.segment_bytes = 1;
  {
    auto opened = open(loop, options);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(write(loop, *opened->journal, "x"));
  }
  const std::string path = options.files.path_of(1);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  EXPECT_FALSE(open(loop, options));
}

TEST(Journal, a_segment_without_a_complete_header_is_created_again) {
  for (std::size_t size : {std::size_t{0}, std::size_t{10}, kRecordFileHeader}) {
    TempDir dir;
    Loop loop;
    JournalOptions options = options_in(dir.path());
    {
      auto opened = open(loop, options);
      ASSERT_TRUE(write(loop, *opened->journal, "x"));
    }
    ASSERT_TRUE(write_file(options.files.path_of(2), std::string(size, '\0')));
    {
      auto opened = open(loop, options);
      ASSERT_TRUE(opened) << opened.error().message;
      ASSERT_TRUE(write(loop, *opened->journal, "y"));
    }
    EXPECT_EQ(records_in(options), (std::vector<std::string>{"x", "y"}));
  }
}

TEST(Journal, a_failed_sync_fails_only_the_records_that_may_depend_on_it) {
  TempDir dir;
  Loop loop;
  std::atomic<int> failing = 0;
  JournalOptions options = options_in(dir.path());
  options.sync = [&](int fd) {
    if (failing-- > 0) return errno = EIO, -1;
    return ::fdatasync(fd);
  };
  auto opened = open(loop, options);
  ASSERT_TRUE(opened);
  Journal& journal = *opened->journal;
  ASSERT_TRUE(write(loop, journal, "good"));
  failing = 3;  // the write, the cleanup, and the cleanup again
  std::vector<Result<JournalPosition>> results;
  auto done = [&](Result<JournalPosition> result) { results.push_back(std::move(result)); };
  // The loop cannot be notified of the first failure before it has appended the others.
  for (int i = 0; i < 5; ++i) journal.append("lost", done);
  run_to_end(loop, wait_for_all(results, 5));
  for (const auto& result : results) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().errno_value, EIO);
  }
  failing = 0;
  ASSERT_TRUE(write(loop, journal, "good again"));
  opened->journal.reset();
  EXPECT_EQ(records_in(options_in(dir.path())), (std::vector<std::string>{"good", "good again"}));
}

TEST(Journal, a_full_disk_fails_writes_until_there_is_room) {
  for (const Durability durability : {Durability::fsync, Durability::os}) {
    testing::with_tiny_disk(256 << 10, [&](const testing::TinyDisk& disk) {
      JournalOptions options = options_in(disk.path);
      options.durability = durability;
      options.segment_bytes = 50'000;  // so that creating a segment fails as well
      std::vector<std::string> kept;
      {
        Loop loop;
        auto opened = open(loop, options);
        ASSERT_TRUE(opened) << opened.error().message;
        for (int round = 0; round < 3; ++round) {
          ASSERT_TRUE(write(loop, *opened->journal, kept.emplace_back(20'000, 'a')));
          disk.fill();
          for (int i = 0; i < 3; ++i) {
            auto full = write(loop, *opened->journal, std::string(20'000, 'b'));
            ASSERT_FALSE(full);
            EXPECT_TRUE(full.error().errno_value == ENOSPC || full.error().errno_value == EFBIG);
          }
          disk.make_room();
          ASSERT_TRUE(write(loop, *opened->journal, kept.emplace_back(20'000, 'c')));
        }
      }
      EXPECT_EQ(records_in(options), kept);
    });
  }
}

TEST(Journal, without_durability_there_are_no_files) {
  TempDir dir;
  Loop loop;
  JournalOptions options = options_in(dir / "never");
  options.durability = Durability::none;
  auto opened = open(loop, options);
  ASSERT_TRUE(opened);
  EXPECT_TRUE(write(loop, *opened->journal, "x"));
  EXPECT_EQ(opened->journal->bytes(), 0u);
  EXPECT_FALSE(std::filesystem::exists(dir / "never"));
}

TEST(Journal, destroying_it_writes_what_is_queued_and_calls_no_callbacks) {
  TempDir dir;
  Loop loop;
  {
    auto opened = open(loop, options_in(dir.path()));
    for (int i = 0; i < 10; ++i)
      opened->journal->append("x", [](auto) { FAIL() << "called after the end"; });
  }
  loop.run_ready();
  EXPECT_EQ(records_in(options_in(dir.path())).size(), 10u);
}

}  // namespace
}  // namespace plim
