#include "local/cluster/role_log.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/loop.hpp"
#include "base/rfc3339.hpp"
#include "base/testing/temp_dir.hpp"

namespace plim::local::cluster {
namespace {

using namespace std::chrono_literals;

WallTime at(std::string_view text) {
  return *parse_rfc3339(text);
}

TEST(TimeOfLine, is_read_from_our_log_and_from_klog) {
  const WallTime now = at("2026-11-16T15:00:00Z");
  EXPECT_EQ(time_of_line("2026-11-16T14:02:24.936Z info up ready", now),
            at("2026-11-16T14:02:24.936Z"));
  EXPECT_EQ(time_of_line("I1116 14:02:24.936850   21705 daemon.cpp:385] \"Plugin\"", now),
            at("2026-11-16T14:02:24.936850Z"));
  EXPECT_EQ(time_of_line("E1231 23:59:59.000001       1 a.go:1] x", at("2026-01-01T00:00:01Z")),
            at("2025-12-31T23:59:59.000001Z"))
      << "of last year";
  EXPECT_FALSE(time_of_line("", now));
  EXPECT_FALSE(time_of_line("warning: something", now));
  EXPECT_FALSE(time_of_line("I1399 14:02:24.936850 x", now)) << "there is no such day";
  EXPECT_FALSE(time_of_line("2026-11-16 14:02", now));
}

class RoleLogTest : public ::testing::Test {
 protected:
  void write(std::string_view text) { ASSERT_TRUE(write_file(log_.path, text)); }

  void append(std::string_view text) { std::ofstream(log_.path, std::ios::app) << text; }

  std::string shown(kubelet::LogOptions options = {}) {
    std::string out;
    auto done = run_to_end(loop_, copy_role_log(
                                      clock_, log_, options, [] { return false; },
                                      [&](std::string piece) {
                                        out += piece;
                                        return true;
                                      }));
    EXPECT_TRUE(done) << done.error().message;
    return out;
  }

  Loop loop_;
  FakeClock clock_;
  plim::testing::TempDir temp_;
  RoleLog log_{.path = temp_ / "log"};
};

TEST_F(RoleLogTest, shows_one_run_of_several) {
  write("old 1\nold 2\nnew 1\nnew 2\n");
  log_.from = 12;
  EXPECT_EQ(shown(), "new 1\nnew 2\n");
  log_.from = 0;
  log_.until = 12;
  EXPECT_EQ(shown(), "old 1\nold 2\n");
}

TEST_F(RoleLogTest, shows_the_end_of_it) {
  write("a\nb\nc\n");
  EXPECT_EQ(shown({.tail_lines = 2}), "b\nc\n");
  EXPECT_EQ(shown({.tail_lines = 0}), "");
  EXPECT_EQ(shown({.tail_lines = 9}), "a\nb\nc\n");
  log_.from = 2;
  EXPECT_EQ(shown({.tail_lines = 9}), "b\nc\n");
  write("a\nb\nc");
  log_.from = 0;
  EXPECT_EQ(shown({.tail_lines = 1}), "c\n") << "the last line may be incomplete";
  EXPECT_EQ(shown({.limit_bytes = 3}), "a\nb");
}

TEST_F(RoleLogTest, takes_times_from_the_lines) {
  log_.began = at("2026-11-16T14:00:00Z");
  write("warning: early\n2026-11-16T14:00:01.500Z info a b\nmore of it\n");
  EXPECT_EQ(shown({.timestamps = true}),
            "2026-11-16T14:00:00Z warning: early\n"
            "2026-11-16T14:00:01.5Z 2026-11-16T14:00:01.500Z info a b\n"
            "2026-11-16T14:00:01.5Z more of it\n");
  EXPECT_EQ(shown({.since = at("2026-11-16T14:00:01Z")}),
            "2026-11-16T14:00:01.500Z info a b\nmore of it\n");
}

TEST_F(RoleLogTest, shows_no_more_than_the_end_of_a_very_long_one) {
  std::string text;
  const std::string line(1023, 'x');
  while (text.size() <= kMostLogShown) text += line + "\n";
  write(text + "last\n");
  const std::string out = shown();
  EXPECT_LE(out.size(), kMostLogShown);
  EXPECT_GT(out.size(), kMostLogShown - 2048);
  EXPECT_TRUE(out.starts_with("xxx"));
  EXPECT_TRUE(out.ends_with("x\nlast\n"));
}

TEST_F(RoleLogTest, follows_until_the_process_has_ended) {
  write("a\n");
  std::string out;
  bool goes_on = true;
  TaskGroup tasks(loop_.executor());
  std::optional<Result<void>> done;
  const auto follow = [](Clock* time, RoleLog log, bool* running, std::string* text,
                         std::optional<Result<void>>* result) -> Task<void> {
    kubelet::LogOptions options{.follow = true};
    std::function<bool()> asked = [running] { return *running; };
    std::function<bool(std::string)> take = [text](std::string piece) {
      *text += piece;
      return true;
    };
    auto ended = co_await copy_role_log(*time, log, options, asked, take);
    *result = std::move(ended);
  };
  tasks.spawn("follow", follow(&clock_, log_, &goes_on, &out, &done));
  const auto settle = [&] {
    for (int i = 0; i < 20; ++i) loop_.run_ready();
  };
  settle();
  EXPECT_EQ(out, "a\n");
  append("b\nc");
  clock_.advance(200ms);
  settle();
  EXPECT_EQ(out, "a\nb\n") << "only complete lines so far";
  goes_on = false;
  clock_.advance(200ms);
  settle();
  ASSERT_TRUE(done);
  EXPECT_TRUE(*done);
  EXPECT_EQ(out, "a\nb\nc\n");
  run_to_end(loop_, tasks.stop());
}

}  // namespace
}  // namespace plim::local::cluster
