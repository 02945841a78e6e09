#include "base/log.hpp"

#include <cerrno>
#include <regex>
#include <thread>
#include <unistd.h>

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/fd.hpp"
#include "base/log_counts.hpp"
#include "base/utf8.hpp"

namespace plim::log {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

const std::regex kTime(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)");

std::string without_time(const std::string& line) {
  EXPECT_TRUE(std::regex_search(line, kTime, std::regex_constants::match_continuous)) << line;
  return line.substr(25);
}

TEST(Log, text_is_time_level_part_message_and_fields) {
  Capture capture;
  warn("kube", "watch ended", {{"resource", "pods"}, {"count", 3}, {"ratio", 0.5}});
  auto lines = capture.take();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(without_time(lines[0]), "warn kube watch ended resource=pods count=3 ratio=0.5");
}

TEST(Log, values_are_quoted_when_they_need_it) {
  Capture capture;
  info("x", "m", {{"a", "two words"}, {"b", "say \"hi\""}, {"c", ""}, {"d", "k=v"}, {"e", "a\\b"}});
  EXPECT_THAT(capture.take()[0],
              EndsWith(R"(m a="two words" b="say \"hi\"" c="" d="k=v" e="a\\b")"));
}

TEST(Log, an_error_is_a_field) {
  Capture capture;
  error("x", "m", {{"error", fail(Code::not_found, "no such pod")}});
  EXPECT_THAT(capture.take()[0], EndsWith(R"(error x m error="no such pod")"));
}

TEST(Log, input_cannot_forge_lines_or_reach_the_terminal) {
  Capture capture;
  info("a\nb", "m\r\n2026 error fake", {{"k\n", "v\nw"}, {"esc", "\x1b[31m"}, {"csi", "\xc2\x9b"}});
  EXPECT_THAT(capture.take()[0],
              EndsWith(R"(a\nb m\r\n2026 error fake k\n="v\nw" esc="\x1b[31m" csi="\x9b")"));
}

TEST(Log, json_has_the_same_members) {
  Capture capture(Format::json);
  info("net", "say \"hi\"\n", {{"peer", "[::1]:80"}, {"bad", "\xff"}});
  auto object = boost::json::parse(capture.take()[0]).as_object();
  EXPECT_TRUE(std::regex_match(std::string(object["time"].as_string()), kTime));
  EXPECT_EQ(object["level"].as_string(), "info");
  EXPECT_EQ(object["part"].as_string(), "net");
  EXPECT_EQ(object["message"].as_string(), "say \"hi\"\n");
  EXPECT_EQ(object["peer"].as_string(), "[::1]:80");
  EXPECT_EQ(object["bad"].as_string(), "\xef\xbf\xbd");
}

RC_GTEST_PROP(Log, any_bytes_make_one_harmless_line, (const std::string& a, const std::string& b)) {
  Capture text;
  info(a, b, {{"key", a + b}});
  const std::string line = text.take().at(0);
  for (std::string_view rest = line; !rest.empty();) {
    const Utf8Char c = decode_utf8(rest);
    RC_ASSERT(c.valid && !is_control(c.point));
    rest.remove_prefix(c.length);
  }
}

RC_GTEST_PROP(Log, any_bytes_make_valid_json, (const std::string& a, const std::string& b)) {
  Capture capture(Format::json);
  info(a, b, {{"key", a + b}});
  boost::json::error_code problem;
  boost::json::parse(capture.take().at(0), problem);
  RC_ASSERT(!problem);
}

TEST(Log, levels_filter_and_are_parsed) {
  EXPECT_EQ(parse_level("warn").value(), Level::warn);
  EXPECT_THAT(parse_level("loud").error().message, HasSubstr("debug, info, warn, error or off"));
  EXPECT_EQ(parse_format("json").value(), Format::json);
  EXPECT_FALSE(parse_format("xml"));
  EXPECT_TRUE(enabled(Level::info));
  EXPECT_FALSE(enabled(Level::debug));
}

TEST(Log, threads_write_whole_lines_to_the_descriptor) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  Fd from(ends[0]), to(ends[1]);
  configure({.fd = to.get()});
  constexpr int kThreads = 4, kLines = 50;
  std::string all;
  std::thread reader([&] {
    char buffer[4096];
    for (ssize_t n = 0; (n = ::read(from.get(), buffer, sizeof buffer)) > 0;)
      all.append(buffer, static_cast<std::size_t>(n));
  });
  const std::string padding(6000, 'x');  // more than PIPE_BUF
  std::vector<std::thread> writers;
  for (int t = 0; t < kThreads; ++t)
    writers.emplace_back([&] {
      for (int i = 0; i < kLines; ++i) info("part", padding);
    });
  for (std::thread& writer : writers) writer.join();
  debug("part", "filtered");
  configure({});
  to.reset();
  reader.join();
  EXPECT_EQ(all.size(), static_cast<std::size_t>(kThreads * kLines) * (25 + 10 + 6000 + 1));
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), kThreads * kLines);
}

TEST(Log, a_broken_descriptor_is_ignored_and_errno_stays) {
  configure({.fd = -1});
  errno = ENOENT;
  error("x", "nobody reads this");
  EXPECT_EQ(errno, ENOENT);
  configure({});
}

std::chrono::steady_clock::time_point g_now{};  // small, as shortly after boot

LineCount counted(std::string_view part) {
  for (LineCount& count : line_counts())
    if (count.part == part) return std::move(count);
  return {};
}

TEST(Log, counts_warnings_and_errors_that_were_written) {
  const Capture capture;
  const LineCount before = counted("counted");
  warn("counted", "one");
  warn("counted", "two");
  error("counted", "three");
  info("counted", "four");
  configure({.level = Level::error});
  warn("counted", "five");
  EXPECT_EQ(counted("counted").warnings, before.warnings + 2);
  EXPECT_EQ(counted("counted").errors, before.errors + 1);
}

TEST(Throttle, suppresses_repeats_and_counts_them) {
  Capture capture;
  Throttle throttle(std::chrono::seconds(60), [] { return g_now; });
  auto repeat = [&] { throttle.write(Level::warn, "x", "again", {{"n", 1}}); };
  repeat();
  repeat();
  repeat();
  EXPECT_EQ(capture.take().size(), 1u);
  g_now += std::chrono::seconds(60);
  repeat();
  EXPECT_THAT(capture.take().at(0), EndsWith("again (2 more held back) n=1"));
  g_now += std::chrono::seconds(60);
  repeat();
  EXPECT_THAT(capture.take().at(0), EndsWith("again n=1"));
}

}  // namespace
}  // namespace plim::log
