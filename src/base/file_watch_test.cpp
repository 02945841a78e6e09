#include "base/file_watch.hpp"

#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/loop.hpp"
#include "base/testing/temp_dir.hpp"

namespace plim {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using testing::TempDir;
using ::testing::UnorderedElementsAre;
using Paths = std::vector<std::string>;

class FileWatchTest : public ::testing::Test {
 protected:
  void watch(Paths paths) {
    auto opened = FileWatch::open(loop_.executor(), std::move(paths), {.settle = 2ms});
    ASSERT_TRUE(opened) << opened.error().message;
    watch_ = std::move(*opened);
  }

  Paths next() { return run_to_end(loop_, watch_->next()); }

  void write(const std::string& path, std::string_view text) { std::ofstream(path) << text; }

  // Checks that nothing was reported so far: the next reported change is the one made here.
  void expect_quiet(const std::string& other) {
    write(other, "later");
    EXPECT_THAT(next(), ElementsAre(other));
  }

  TempDir dir_;
  Loop loop_;
  std::unique_ptr<FileWatch> watch_;
};

TEST_F(FileWatchTest, sees_creation_writing_and_removal) {
  const std::string file = dir_ / "file";
  watch({file});
  write(file, "a");
  EXPECT_THAT(next(), ElementsAre(file));
  write(file, "b");
  EXPECT_THAT(next(), ElementsAre(file));
  write(file, "c");  // the same size, perhaps the same tick
  EXPECT_THAT(next(), ElementsAre(file));
  ASSERT_TRUE(remove_file(file));
  EXPECT_THAT(next(), ElementsAre(file));
}

TEST_F(FileWatchTest, sees_atomic_replacement) {
  const std::string file = dir_ / "file";
  ASSERT_TRUE(write_file(file, "a"));
  watch({file});
  ASSERT_TRUE(write_file(file, "b"));
  EXPECT_THAT(next(), ElementsAre(file));
}

TEST_F(FileWatchTest, ignores_other_files_in_the_directory) {
  watch({dir_ / "file"});
  write(dir_ / "neighbour", "x");
  ASSERT_TRUE(write_file(dir_ / "other", "x"));
  expect_quiet(dir_ / "file");
}

TEST_F(FileWatchTest, reports_a_burst_as_one_change) {
  const std::string file = dir_ / "file";
  watch({file, dir_ / "second"});
  for (int i = 0; i < 100; ++i) write(file, std::to_string(i));
  write(dir_ / "second", "x");
  EXPECT_THAT(next(), UnorderedElementsAre(file, dir_ / "second"));
  ASSERT_TRUE(remove_file(dir_ / "second"));
  EXPECT_THAT(next(), ElementsAre(dir_ / "second"));
}

// As the kubelet does: a new directory, a new link to it, renamed to ..data.
void swap_volume(const TempDir& dir, const std::string& version, std::string_view content) {
  ASSERT_TRUE(make_directories(dir / ("..v" + version)));
  ASSERT_TRUE(write_file(dir / ("..v" + version + "/config"), content));
  fs::create_symlink("..v" + version, dir / "..data_tmp");
  fs::rename(dir / "..data_tmp", dir / "..data");
}

TEST_F(FileWatchTest, sees_the_swap_of_a_config_map) {
  swap_volume(dir_, "1", "one");
  fs::create_symlink("..data/config", dir_ / "config");
  watch({dir_ / "config"});
  swap_volume(dir_, "2", "two");
  EXPECT_THAT(next(), ElementsAre(dir_ / "config"));
  EXPECT_EQ(read_file(dir_ / "config").value(), "two");
  fs::remove_all(dir_ / "..v1");
  swap_volume(dir_, "3", "three");
  EXPECT_THAT(next(), ElementsAre(dir_ / "config"));
}

TEST_F(FileWatchTest, survives_removal_of_the_directory) {
  const std::string file = dir_ / "a/b/file";
  ASSERT_TRUE(make_directories(dir_ / "a/b"));
  write(file, "1");
  watch({file});
  fs::remove_all(dir_ / "a");
  EXPECT_THAT(next(), ElementsAre(file));
  ASSERT_TRUE(make_directories(dir_ / "a/b"));
  write(file, "2");
  EXPECT_THAT(next(), ElementsAre(file));
  write(file, "3");
  EXPECT_THAT(next(), ElementsAre(file));
}

Task<void> note_next(FileWatch& watch, Paths& seen) {
  for (;;) {
    Paths paths = co_await watch.next();
    seen.insert(seen.end(), paths.begin(), paths.end());
  }
}

TEST_F(FileWatchTest, follows_directories_that_are_created_one_by_one) {
  const std::string file = dir_ / "a/b/c/file";
  watch({file});
  Paths seen;
  TaskGroup group(loop_.executor());
  group.spawn("note", note_next(*watch_, seen));
  for (const char* part : {"a", "a/b", "a/b/c"}) {
    ASSERT_TRUE(make_directories(dir_ / part));
    run_to_end(loop_, system_clock().sleep(10ms));
  }
  EXPECT_TRUE(seen.empty());
  write(file, "x");
  while (seen.empty()) run_to_end(loop_, system_clock().sleep(1ms));
  EXPECT_EQ(seen.front(), file);
  run_to_end(loop_, group.stop());
}

TEST_F(FileWatchTest, a_replaced_directory_is_followed) {
  const std::string file = dir_ / "live/file";
  ASSERT_TRUE(make_directories(dir_ / "live"));
  ASSERT_TRUE(make_directories(dir_ / "next"));
  write(file, "1");
  write(dir_ / "next/file", "22");
  watch({file});
  fs::rename(dir_ / "live", dir_ / "old");
  fs::rename(dir_ / "next", dir_ / "live");
  EXPECT_THAT(next(), ElementsAre(file));
  write(dir_ / "old/file", "moved away");
  expect_quiet(file);
}

TEST_F(FileWatchTest, an_overflow_of_the_queue_reports_everything) {
  auto limit = read_file("/proc/sys/fs/inotify/max_queued_events");
  ASSERT_TRUE(limit);
  const int events = std::stoi(*limit);
  if (events > 50'000) GTEST_SKIP() << "the kernel's queue is too long to fill: " << events;
  watch({dir_ / "file", dir_ / "second"});
  const std::string a = dir_ / "x", b = dir_ / "y";
  write(a, "");
  for (int i = 0; i <= events / 2; ++i) {  // two events each, all different
    ASSERT_EQ(::rename(a.c_str(), b.c_str()), 0);
    ASSERT_EQ(::rename(b.c_str(), a.c_str()), 0);
  }
  EXPECT_THAT(next(), UnorderedElementsAre(dir_ / "file", dir_ / "second"));
}

TEST_F(FileWatchTest, waiting_can_be_cancelled) {
  watch({dir_ / "file"});
  Paths seen;
  TaskGroup group(loop_.executor());
  group.spawn("note", note_next(*watch_, seen));
  loop_.run_ready();
  run_to_end(loop_, group.stop());
  EXPECT_TRUE(seen.empty());
}

TEST_F(FileWatchTest, relative_paths_work) {
  const fs::path before = fs::current_path();
  fs::current_path(dir_.path());
  watch({"file", "sub/file"});
  write("file", "x");
  EXPECT_THAT(next(), ElementsAre("file"));
  ASSERT_TRUE(make_directories("sub"));
  write("sub/file", "x");
  EXPECT_THAT(next(), ElementsAre("sub/file"));
  fs::current_path(before);
}

}  // namespace
}  // namespace plim
