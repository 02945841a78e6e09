#include "base/durable_directory.hpp"

#include <filesystem>
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/testing/temp_dir.hpp"

namespace plim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::TempDir;

// tests/e2e/powercut shows that the names are on disk.
TEST(DurableDirectory, has_the_mode_in_all_parts_and_keeps_what_exists) {
  TempDir dir;
  ASSERT_TRUE(make_durable_directories(dir / "a/b/", 0700));
  ASSERT_TRUE(write_file(dir / "a/b/file", "kept"));
  ASSERT_TRUE(make_durable_directories(dir / "a/b/c"));
  struct stat info{};
  ASSERT_EQ(::stat((dir / "a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700u);
  EXPECT_EQ(read_file(dir / "a/b/file").value(), "kept");
  EXPECT_TRUE(std::filesystem::is_directory(dir / "a/b/c"));
}

TEST(DurableDirectory, does_not_replace_a_file) {
  TempDir dir;
  ASSERT_TRUE(write_file(dir / "file", ""));
  EXPECT_THAT(make_durable_directories(dir / "file").error().message, HasSubstr("not a directory"));
  EXPECT_THAT(make_durable_directories(dir / "file/x/y").error().message,
              AllOf(HasSubstr("file/x/y"), HasSubstr("not a directory")));
}

}  // namespace
}  // namespace plim
