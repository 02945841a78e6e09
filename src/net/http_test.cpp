#include "net/http.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace plim::net {
namespace {

TEST(Headers, compare_without_case_and_keep_repeats) {
  Headers headers{{"Accept", "a"}, {"ACCEPT", "b"}};
  EXPECT_EQ(headers.get("accept"), "a");
  EXPECT_EQ(headers.size(), 2u);
  headers.set("aCCept", "c");
  EXPECT_EQ(headers.size(), 1u);
  EXPECT_EQ(headers.get("Accept"), "c");
  headers.remove("ACCEPT");
  EXPECT_FALSE(headers.has("accept"));
}

TEST(Headers, find_tokens_in_lists) {
  Headers headers{{"Connection", "keep-alive, Upgrade"}, {"Connection", "x"}};
  EXPECT_TRUE(headers.has_token("connection", "upgrade"));
  EXPECT_TRUE(headers.has_token("connection", "X"));
  EXPECT_FALSE(headers.has_token("connection", "keep"));
}

TEST(Headers, hold_bearer_tokens) {
  EXPECT_EQ(bearer_token({{"Authorization", "Bearer abc"}}), "abc");
  EXPECT_EQ(bearer_token({{"authorization", "bearer  abc "}}), "abc");
  EXPECT_EQ(bearer_token({{"Authorization", "Basic abc"}}), "");
  EXPECT_EQ(bearer_token({}), "");
}

TEST(Percent, keeps_broken_escapes) {
  EXPECT_EQ(percent_decode("a%2Fb%zz%4"), "a/b%zz%4");
  EXPECT_EQ(percent_decode("a+b", true), "a b");
  EXPECT_EQ(percent_encode("a/b c~é"), "a%2Fb%20c~%C3%A9");
}

TEST(Query, keeps_order_and_missing_values) {
  auto pairs = parse_query("b=1&a&c=x%20y+z&&b=2=3");
  ASSERT_EQ(pairs.size(), 4u);
  EXPECT_EQ(pairs[0], std::pair(std::string("b"), std::string("1")));
  EXPECT_EQ(pairs[1], std::pair(std::string("a"), std::string()));
  EXPECT_EQ(pairs[2].second, "x y z");
  EXPECT_EQ(pairs[3].second, "2=3");
}

RC_GTEST_PROP(Query, round_trips, (std::vector<std::pair<std::string, std::string>> pairs)) {
  for (auto& pair : pairs) pair.first += "k";
  RC_ASSERT(parse_query(format_query(pairs)) == pairs);
}

RC_GTEST_PROP(Percent, round_trips, (std::string text)) {
  RC_ASSERT(percent_decode(percent_encode(text)) == text);
}

TEST(Status, has_a_text_for_every_number) {
  EXPECT_EQ(status_text(404), "Not Found");
  EXPECT_EQ(status_text(299), "Status");
}

}  // namespace
}  // namespace plim::net
