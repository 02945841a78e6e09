#include "net/gzip.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace plim::net {
namespace {

RC_GTEST_PROP(Gzip, round_trips_in_any_portions, (std::string text)) {
  for (int doubled = 0; doubled < 6; ++doubled) text += text;
  std::string zipped = gzip(text), plain;
  auto portion = *rc::gen::inRange<std::size_t>(1, 50);
  Gunzip gunzip(text.size());
  for (std::size_t at = 0; at < zipped.size(); at += portion)
    RC_ASSERT(gunzip.feed(std::string_view(zipped).substr(at, portion), plain).has_value());
  RC_ASSERT(gunzip.finish().has_value());
  RC_ASSERT(plain == text);
}

TEST(Gunzip, stops_at_its_limit) {
  std::string out;
  Gunzip gunzip(1000);
  auto fed = gunzip.feed(gzip(std::string(10'000'000, '0')), out);
  ASSERT_FALSE(fed);
  EXPECT_EQ(fed.error().code, Code::too_large);
  EXPECT_LE(out.size(), 1000u);
}

TEST(Gunzip, joins_members_and_notices_cut_or_broken_data) {
  std::string out;
  Gunzip both(100);
  ASSERT_TRUE(both.feed(gzip("one") + gzip("two"), out));
  EXPECT_EQ(out, "onetwo");
  EXPECT_TRUE(both.finish());
  Gunzip cut(100);
  std::string half = gzip("some text");
  half.resize(half.size() - 3);
  ASSERT_TRUE(cut.feed(half, out));
  EXPECT_FALSE(cut.finish());
  Gunzip broken(100);
  EXPECT_FALSE(broken.feed("this is not gzip", out));
}

}  // namespace
}  // namespace plim::net
