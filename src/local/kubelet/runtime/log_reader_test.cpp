#include "local/kubelet/runtime/log_reader.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/rfc3339.hpp"
#include "local/kubelet/runtime/testing/node_fixture.hpp"

namespace plim::local::kubelet {
namespace {

TEST(LogFilter, joins_parts_and_shows_times) {
  const std::string stamp = "2024-01-02T03:04:05.000000006Z";
  LogOptions options;
  options.timestamps = true;
  LogFilter filter(options);
  EXPECT_EQ(filter.take(stamp + " stdout P abc"), stamp + " abc");
  EXPECT_EQ(filter.take(stamp + " stdout F def"), "def\n");
  EXPECT_EQ(filter.take(stamp + " stderr F"), stamp + " \n");
  EXPECT_EQ(filter.take("garbage"), "");
}

TEST(LogFilter, stops_at_the_limit) {
  LogOptions options;
  options.limit_bytes = 4;
  LogFilter filter(options);
  EXPECT_EQ(filter.take("2024-01-02T03:04:05Z stdout F abcdef"), "abcd");
  EXPECT_TRUE(filter.full());
}

TEST(LogFilter, begins_at_a_time) {
  LogOptions options;
  options.since = parse_rfc3339("2024-01-02T03:04:05Z").value();
  LogFilter filter(options);
  EXPECT_EQ(filter.take("2024-01-02T03:04:04.9Z stdout F old"), "");
  EXPECT_EQ(filter.take("2024-01-02T03:04:05Z stdout F new"), "new\n");
}

using PodLogs = testing::NodeTest;

TEST_F(PodLogs, show_their_end) {
  start_node();
  create_pod("a", script("for i in 1 2 3 4; do echo $i; done"));
  follow("a", phase("Succeeded"));
  LogOptions last;
  last.tail_lines = 2;
  EXPECT_EQ(log_of("a", "c", last), "3\n4\n");
  last.tail_lines = 0;
  EXPECT_EQ(log_of("a", "c", last), "");
}

TEST_F(PodLogs, are_followed_to_the_end_of_the_container) {
  start_node();
  // The second line comes while we follow the log, and the end only after we have seen the line.
  create_pod("a", script("await() { while ! test -e ../$1; do sleep 0.01; done; }; "
                         "echo one; await one; echo two; await two; echo three"));
  follow("a", shows("c:Ready"));
  const std::string place =
      fmt::format("{}/n1/pods/{}", dir.path(), text_at(get_pod("a"), {"metadata", "uid"}));
  LogOptions followed;
  followed.follow = true;
  std::string seen;
  auto write = [&](std::string text) {
    seen += text;
    for (const char* line : {"one", "two"}) {
      if (seen.find(line) == seen.npos) continue;
      EXPECT_TRUE(write_file(fmt::format("{}/{}", place, line), ""));
    }
    return true;
  };
  auto read = run(node->read_log("default", "a", "c", followed, write));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(seen, "one\ntwo\nthree\n");
}

TEST_F(PodLogs, keep_those_of_the_run_before) {
  start_node();
  create_pod("a", script("test -e ../first && { echo second; exec sleep 1000; }; "
                         "touch ../first; echo first; exit 1",
                         "Always"));
  follow("a", shows("c:Readyx1"));
  LogOptions previous;
  previous.previous = true;
  EXPECT_EQ(log_of("a", "c", previous), "first\n");
}

TEST_F(PodLogs, say_why_there_are_none) {
  start_node();
  create_pod("a", R"({"containers":[{"name":"c","image":"missing"}]})");
  follow("a", shows("ImagePullBackOff"));
  auto ignore = [](std::string) { return true; };
  auto read = run(node->read_log("default", "a", "c", {}, ignore));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::bad_request);
  EXPECT_EQ(read.error().message,
            "container \"c\" in pod \"a\" is waiting to start: ImagePullBackOff");
  EXPECT_EQ(run(node->read_log("default", "b", "c", {}, ignore)).error().code, Code::not_found);
}

}  // namespace
}  // namespace plim::local::kubelet
