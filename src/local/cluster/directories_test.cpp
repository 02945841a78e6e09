#include "local/cluster/directories.hpp"

#include <filesystem>
#include <map>
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/temp_dir.hpp"

namespace plim::local::cluster {
namespace {

using plim::testing::TempDir;
using ::testing::HasSubstr;

kube::GetEnv environment(std::map<std::string, std::string> values) {
  return [values = std::move(values)](std::string_view name) -> std::optional<std::string> {
    auto found = values.find(std::string(name));
    if (found == values.end()) return std::nullopt;
    return found->second;
  };
}

mode_t mode_of(const std::string& path) {
  struct stat info{};
  PLIM_ASSERT(::stat(path.c_str(), &info) == 0);
  return info.st_mode & 07777;
}

TEST(ClusterDirectories, follow_the_environment) {
  TempDir temp;
  auto env = environment({{"HOME", "/home/x"}, {"XDG_RUNTIME_DIR", temp.path()}});
  auto found = find_directories("a", "", env);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->state, "/home/x/.local/state/plimsoll/local/a");
  EXPECT_EQ(found->run, temp / "plimsoll/a");
  env = environment({{"HOME", "/home/x"}, {"XDG_STATE_HOME", "/s"}, {"XDG_RUNTIME_DIR", "/x"}});
  EXPECT_EQ(find_directories("a", "", env)->state, "/s/plimsoll/local/a");
  EXPECT_EQ(find_directories("a", "/d/", env)->state, "/d");
}

TEST(ClusterDirectories, are_short_enough_for_the_paths_of_sockets) {
  TempDir temp;
  std::string deep = temp / std::string(80, 'x');
  ASSERT_TRUE(make_directories(deep));
  auto found = find_directories("a", "/d", environment({{"XDG_RUNTIME_DIR", deep}}));
  ASSERT_TRUE(found);
  EXPECT_LT(found->run.size(), 60u);
}

TEST(ClusterDirectories, refuse_names_that_are_paths) {
  for (std::string_view name : {"", ".", "a/b", "../x", "A", "-a", "a b"})
    EXPECT_FALSE(find_directories(name, "/d", environment({}))) << name;
}

TEST(ClusterDirectories, are_private) {
  TempDir temp;
  ASSERT_TRUE(make_private(temp / "a/b"));
  EXPECT_EQ(mode_of(temp / "a/b"), 0700u);
  ASSERT_TRUE(make_private(temp / "a/b"));
  ::chmod((temp / "a/b").c_str(), 0755);
  ASSERT_TRUE(make_private(temp / "a/b"));
  EXPECT_EQ(mode_of(temp / "a/b"), 0700u);
}

TEST(ClusterDirectories, that_others_may_write_to_are_refused) {
  TempDir temp;
  ASSERT_TRUE(make_private(temp / "a"));
  ::chmod((temp / "a").c_str(), 0770);
  auto made = make_private(temp / "a");
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("others may write"));
  ASSERT_EQ(::symlink("/tmp", (temp / "link").c_str()), 0);
  EXPECT_FALSE(make_private(temp / "link"));
}

TEST(ClusterDirectories, that_belong_to_others_are_refused) {
  if (::geteuid() == 0) {
    TempDir temp;
    ASSERT_EQ(::chown(temp.path().c_str(), 12345, 12345), 0);
    auto made = make_private(temp.path());
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().message, HasSubstr("belongs to user 12345"));
  } else {
    EXPECT_FALSE(make_private("/usr"));
  }
}

TEST(ClusterDirectories, name_the_process_that_holds_them) {
  TempDir temp;
  auto env = environment({{"HOME", temp.path()}, {"XDG_RUNTIME_DIR", temp.path()}});
  auto here = find_directories("a", "", env);
  ASSERT_TRUE(here);
  ASSERT_TRUE(make_private(here->run));
  EXPECT_FALSE(holder_of(here->lock()));
  auto lock = take_lock(*here);
  ASSERT_TRUE(lock);
  EXPECT_EQ(holder_of(here->lock()), ::getpid());
  auto second = take_lock(*here);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::already_exists);
  EXPECT_THAT(second.error().message, HasSubstr(std::to_string(::getpid())));
}

TEST(ClusterDirectories, of_a_running_cluster_are_found_in_any_place) {
  TempDir temp, other;
  auto env = environment({{"HOME", temp.path()}, {"XDG_RUNTIME_DIR", temp.path()}});
  auto here = find_directories("a", other.path(), env);
  ASSERT_TRUE(here);
  ASSERT_TRUE(make_private(here->run));
  auto lock = take_lock(*here);
  ASSERT_TRUE(lock);
  ASSERT_TRUE(write_file(here->running(), R"({"stateDirectory": ")" + other.path() + "\"}"));
  ASSERT_TRUE(write_file(here->endpoints(), R"({"runDirectory": ")" + here->run + "\"}"));
  EXPECT_EQ(find_directories("a", "", env)->state, other.path());
  auto elsewhere = environment({{"HOME", temp.path()}, {"XDG_RUNTIME_DIR", other.path()}});
  EXPECT_EQ(find_directories("a", other.path(), elsewhere)->run, here->run);
}

// A cluster that seems to run: its lock is held, and its note names a state directory.
struct Planted {
  Planted()
      : env(environment({{"HOME", temp.path()}, {"XDG_RUNTIME_DIR", temp.path()}})),
        run(temp / "plimsoll/a"),
        state(temp / "victim") {
    PLIM_ASSERT(make_private(run) && make_private(state));
    lock = FileLock::acquire(run + "/lock");
    PLIM_ASSERT(lock);
    PLIM_ASSERT(write_file(run + "/cluster.json", R"({"stateDirectory": ")" + state + "\"}"));
    PLIM_ASSERT(find_directories("a", "", env)->state == state);
  }

  std::string refusal() const {
    auto found = find_directories("a", "", env);
    return found ? "" : found.error().message;
  }

  TempDir temp;
  kube::GetEnv env;
  std::string run, state;
  Result<FileLock> lock = fail(Code::not_found, "");
};

TEST(ClusterDirectories, that_others_can_change_are_not_read) {
  Planted planted;
  for (const std::string& path : {planted.run, planted.state}) {
    ::chmod(path.c_str(), 0777);
    EXPECT_THAT(planted.refusal(), HasSubstr("others may write to " + path));
    EXPECT_TRUE(known_clusters(planted.env).empty());
    ::chmod(path.c_str(), 0700);
    if (::geteuid() != 0) continue;
    ASSERT_EQ(::chown(path.c_str(), 12345, 12345), 0);
    EXPECT_THAT(planted.refusal(), HasSubstr(path + " belongs to user 12345"));
    ASSERT_EQ(::chown(path.c_str(), 0, 0), 0);
  }
  EXPECT_EQ(planted.refusal(), "");
  std::filesystem::rename(planted.run, planted.run + "-moved");
  std::filesystem::create_directory_symlink(planted.run + "-moved", planted.run);
  EXPECT_THAT(planted.refusal(), HasSubstr("cannot use " + planted.run));
}

TEST(ClusterDirectories, that_a_note_names_are_used_only_if_up_makes_such_ones) {
  TempDir temp, other;
  const auto env = environment({{"HOME", temp.path()}, {"XDG_RUNTIME_DIR", temp.path()}});
  const std::string usual = find_directories("a", other.path(), env)->run;
  for (const std::string& run :
       {other / "victim", other / "plimsoll/b", other / "x/../plimsoll/a", other / "plimsoll/a"}) {
    ASSERT_TRUE(make_directories(other / "x") && make_directories(run, 0700));
    auto lock = FileLock::acquire(run + "/lock");
    ASSERT_TRUE(lock);
    ASSERT_TRUE(write_file(other / "endpoints.json", R"({"runDirectory": ")" + run + "\"}"));
    const bool is_made_by_up = run == other / "plimsoll/a";
    EXPECT_EQ(find_directories("a", other.path(), env)->run, is_made_by_up ? run : usual) << run;
  }
}

}  // namespace
}  // namespace plim::local::cluster
