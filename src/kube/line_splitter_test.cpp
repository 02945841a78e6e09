#include "kube/line_splitter.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace plim::kube {
namespace {

std::vector<std::string> lines_ready(LineSplitter& splitter) {
  std::vector<std::string> out;
  for (;;) {
    auto line = splitter.next();
    if (!line || !*line) return out;
    out.push_back(**line);
  }
}

TEST(LineSplitter, joins_pieces_and_skips_empty_lines) {
  LineSplitter splitter(100);
  splitter.add("on");
  EXPECT_TRUE(lines_ready(splitter).empty());
  splitter.add("e\n\r\n\ntwo\r");
  EXPECT_EQ(lines_ready(splitter), std::vector<std::string>{"one"});
  splitter.add("\nhalf");
  EXPECT_EQ(lines_ready(splitter), std::vector<std::string>{"two"});
}

TEST(LineSplitter, refuses_lines_beyond_the_limit_before_they_end) {
  LineSplitter splitter(4);
  splitter.add("1234\n12345");
  EXPECT_EQ(lines_ready(splitter), std::vector<std::string>{"1234"});
  EXPECT_EQ(splitter.next().error().code, Code::too_large);
  splitter.add("\nok\n");
  EXPECT_EQ(splitter.next().error().code, Code::too_large);
}

RC_GTEST_PROP(LineSplitter, does_not_care_how_the_bytes_are_cut, ()) {
  const auto lines = *rc::gen::container<std::vector<std::string>>(
      rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange('a', 'z'))));
  std::string bytes;
  for (const std::string& line : lines)
    bytes += line + (*rc::gen::arbitrary<bool>() ? "\n" : "\r\n");
  LineSplitter splitter(1 << 20);
  std::vector<std::string> seen;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto size = *rc::gen::inRange<std::size_t>(1, 8);
    splitter.add(std::string_view(bytes).substr(at, size));
    at += size;
    for (std::string& line : lines_ready(splitter)) seen.push_back(std::move(line));
  }
  RC_ASSERT(seen == lines);
}

}  // namespace
}  // namespace plim::kube
