#include "base/beneath.hpp"

#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/testing/temp_dir.hpp"

namespace plim {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::TempDir;

class BeneathTest : public ::testing::Test {
 protected:
  BeneathTest() {
    PLIM_ASSERT(plim::make_directories(volume()) && plim::make_directories(dir / "outside"));
    PLIM_ASSERT(plim::write_file(dir / "outside/file", "kept"));
  }

  std::string volume() const { return dir / "volume"; }

  Beneath beneath() const { return *Beneath::open(volume()); }

  mode_t mode_of(const std::string& path) const {
    struct stat info{};
    PLIM_ASSERT(::lstat((volume() + "/" + path).c_str(), &info) == 0);
    return info.st_mode;
  }

  TempDir dir;
};

TEST_F(BeneathTest, writes_files_with_their_directories) {
  ASSERT_TRUE(beneath().write_file("a/b/c", "text", 0640));
  EXPECT_EQ(read_file(volume() + "/a/b/c"), "text");
  EXPECT_EQ(mode_of("a/b/c") & 07777, 0640u);
  const auto written = fs::last_write_time(volume() + "/a/b/c");
  ASSERT_TRUE(beneath().write_file("a/b/c", "text", 0640));
  EXPECT_EQ(fs::last_write_time(volume() + "/a/b/c"), written);
  ASSERT_TRUE(beneath().write_file("a/b/c", "texT", 0600));
  EXPECT_EQ(read_file(volume() + "/a/b/c"), "texT");
  EXPECT_EQ(std::distance(fs::directory_iterator(volume() + "/a/b"), {}), 1);
}

TEST_F(BeneathTest, replaces_links_pipes_and_devices_instead_of_writing_to_them) {
  fs::create_symlink(dir / "outside/file", volume() + "/link");
  ASSERT_EQ(::mkfifo((volume() + "/pipe").c_str(), 0666), 0);
  for (const char* name : {"link", "pipe"}) {
    ASSERT_TRUE(beneath().write_file(name, "new", 0644)) << name;
    EXPECT_TRUE(S_ISREG(mode_of(name))) << name;
    EXPECT_EQ(read_file(volume() + "/" + name), "new");
  }
  EXPECT_EQ(read_file(dir / "outside/file"), "kept");
}

TEST_F(BeneathTest, enters_no_directory_outside) {
  fs::create_directory_symlink(dir / "outside", volume() + "/out");
  EXPECT_FALSE(beneath().write_file("out/file", "new", 0644));
  EXPECT_FALSE(beneath().make_directories("out/sub", 0777));
  EXPECT_FALSE(beneath().make_directories("../sub", 0777));
  EXPECT_EQ(read_file(dir / "outside/file"), "kept");
  EXPECT_FALSE(fs::exists(dir / "outside/sub"));
  for (const char* path : {"out", "out/file", "..", "../outside/file", "/etc/passwd"}) {
    const auto found = beneath().find(path);
    ASSERT_FALSE(found) << path;
    EXPECT_THAT(found.error().message, HasSubstr("leads out of its volume"));
  }
}

TEST_F(BeneathTest, follows_links_that_stay_below) {
  ASSERT_TRUE(beneath().write_file("v1/file", "text", 0644));
  fs::create_directory_symlink("v1", volume() + "/current");
  const auto found = beneath().find("current/file");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(fs::read_symlink("/proc/self/fd/" + std::to_string(found->get())),
            volume() + "/v1/file");
}

TEST_F(BeneathTest, makes_directories_for_everybody) {
  ASSERT_TRUE(beneath().make_directories("x/y", 0777));
  EXPECT_EQ(mode_of("x/y") & 07777, 0777u);
  ASSERT_TRUE(beneath().make_directories("x/y", 0700));
  EXPECT_EQ(mode_of("x/y") & 07777, 0777u) << "it was there";
}

}  // namespace
}  // namespace plim
