#include "base/files.hpp"

#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/temp_dir.hpp"

namespace plim {
namespace {

using ::testing::HasSubstr;
using testing::TempDir;

mode_t mode_of(const std::string& path) {
  struct stat info{};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

std::size_t entries(const std::string& directory) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory)) ++count;
  return count;
}

TEST(Files, round_trip_of_sizes_around_the_buffer) {
  TempDir dir;
  for (std::size_t size : {0u, 1u, 4095u, 4096u, 4097u, 100'000u}) {
    const std::string content(size, 'x');
    ASSERT_TRUE(write_file(dir / "file", content));
    EXPECT_EQ(read_file(dir / "file").value(), content) << size;
  }
}

TEST(Files, reads_files_of_unknown_size) {
  EXPECT_THAT(read_file("/proc/self/status").value(), HasSubstr("VmRSS"));
}

TEST(Files, the_limit_is_exact) {
  TempDir dir;
  ASSERT_TRUE(write_file(dir / "file", "12345"));
  EXPECT_EQ(read_file(dir / "file", 5).value(), "12345");
  auto refused = read_file(dir / "file", 4);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::too_large);
  EXPECT_EQ(read_file("/dev/zero", 100'000).error().code, Code::too_large);
}

TEST(Files, errors_name_the_path) {
  TempDir dir;
  const auto missing = read_file(dir / "missing");
  EXPECT_EQ(missing.error().code, Code::not_found);
  EXPECT_THAT(missing.error().message, HasSubstr(dir / "missing"));
  EXPECT_THAT(read_file(dir.path()).error().message, HasSubstr("is a directory"));
  EXPECT_EQ(read_file(std::string("/etc/passwd\0x", 13)).error().code, Code::invalid);
}

TEST(Files, write_replaces_sets_the_mode_and_leaves_no_other_files) {
  TempDir dir;
  const mode_t before = ::umask(0077);
  ASSERT_TRUE(write_file(dir / "file", "old"));
  EXPECT_EQ(mode_of(dir / "file"), 0600u);
  ASSERT_TRUE(write_file(dir / "file", "new", {.mode = 0644}));
  ::umask(before);
  EXPECT_EQ(mode_of(dir / "file"), 0644u);
  EXPECT_EQ(read_file(dir / "file").value(), "new");
  EXPECT_EQ(entries(dir.path()), 1u);
}

TEST(Files, a_failed_write_keeps_the_old_file_and_cleans_up) {
  TempDir dir;
  ASSERT_TRUE(make_directories(dir / "taken/inner"));
  EXPECT_FALSE(write_file(dir / "taken", "x"));
  EXPECT_EQ(entries(dir.path()), 1u);
  EXPECT_EQ(write_file(dir / "no/such/file", "x").error().code, Code::not_found);
}

TEST(Files, a_pipe_is_written_to_and_stays_a_pipe) {
  TempDir dir;
  const std::string pipe = dir / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  EXPECT_TRUE(write_file(pipe, "content"));
  char seen[16] = {};
  EXPECT_EQ(::read(reader, seen, sizeof seen), 7);
  EXPECT_STREQ(seen, "content");
  ::close(reader);
  struct stat info{};
  ASSERT_EQ(::stat(pipe.c_str(), &info), 0);
  EXPECT_TRUE(S_ISFIFO(info.st_mode));
  EXPECT_EQ(entries(dir.path()), 1u);
}

TEST(Files, readers_never_see_half_a_file) {
  TempDir dir;
  const std::string a(50'000, 'a'), b(70'000, 'b');
  ASSERT_TRUE(write_file(dir / "file", a));
  std::thread writer([&] {
    for (int i = 0; i < 50; ++i)
      EXPECT_TRUE(write_file(dir / "file", i % 2 ? a : b, {.sync = false}));
  });
  for (int i = 0; i < 200; ++i) {
    const std::string seen = read_file(dir / "file").value();
    ASSERT_TRUE(seen == a || seen == b);
  }
  writer.join();
}

TEST(Files, write_existing_does_not_create) {
  TempDir dir;
  EXPECT_EQ(write_existing_file(dir / "file", "x").error().code, Code::not_found);
  ASSERT_TRUE(write_file(dir / "file", "long content"));
  ASSERT_TRUE(write_existing_file(dir / "file", "short"));
  EXPECT_EQ(read_file(dir / "file").value(), "short");
}

TEST(Files, make_directories_is_repeatable) {
  TempDir dir;
  ASSERT_TRUE(make_directories(dir / "a/b/c", 0700));
  ASSERT_TRUE(make_directories(dir / "a/b/c/"));
  EXPECT_EQ(mode_of(dir / "a/b/c"), 0700u);
  ASSERT_TRUE(write_file(dir / "file", ""));
  EXPECT_THAT(make_directories(dir / "file/x").error().message, HasSubstr("not a directory"));
}

TEST(Files, remove_is_repeatable) {
  TempDir dir;
  ASSERT_TRUE(write_file(dir / "file", ""));
  EXPECT_TRUE(remove_file(dir / "file"));
  EXPECT_TRUE(remove_file(dir / "file"));
  EXPECT_FALSE(remove_file(dir.path()));
}

TEST(FileLock, names_the_holder_and_frees_on_destruction) {
  TempDir dir;
  {
    auto held = FileLock::acquire(dir / "lock");
    ASSERT_TRUE(held);
    auto second = FileLock::acquire(dir / "lock");
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::already_exists);
    EXPECT_THAT(second.error().message, HasSubstr(std::to_string(::getpid())));
  }
  EXPECT_TRUE(FileLock::acquire(dir / "lock"));
}

TEST(FileLock, ends_with_its_process) {
  TempDir dir;
  const pid_t child = ::fork();
  if (child == 0) {
    auto held = FileLock::acquire(dir / "lock");
    ::_exit(held ? 0 : 1);  // no destructor runs
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_file(dir / "lock").value(), std::to_string(child) + "\n");
  EXPECT_TRUE(FileLock::acquire(dir / "lock"));
}

TEST(FileLock, waits_for_a_child_of_the_killed_holder) {
  TempDir dir;
  const pid_t holder = ::fork();
  if (holder == 0) {
    auto held = FileLock::acquire(dir / "lock");
    if (::fork() == 0) {  // a child between fork and exec
      ::usleep(100'000);
      ::_exit(0);
    }
    ::_exit(held ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(holder, &status, 0), holder);
  ASSERT_EQ(status, 0);
  auto lock = FileLock::acquire(dir / "lock");
  EXPECT_TRUE(lock) << lock.error().message;
}

}  // namespace
}  // namespace plim
