#include "base/suggest.hpp"

#include <array>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace plim {
namespace {

constexpr std::array<std::string_view, 4> kWords{"version", "doctor", "completion",
                                                 "explain error"};

TEST(Suggest, counts_typing_mistakes) {
  EXPECT_EQ(edit_distance("version", "version"), 0u);
  EXPECT_EQ(edit_distance("verson", "version"), 1u);
  EXPECT_EQ(edit_distance("vresion", "version"), 1u);  // two letters swapped
  EXPECT_EQ(edit_distance("", "abc"), 3u);
}

TEST(Suggest, finds_what_was_meant) {
  EXPECT_EQ(nearest("verison", kWords), "version");
  EXPECT_EQ(nearest("docter", kWords), "doctor");
  EXPECT_EQ(nearest("comp", kWords), "completion");
  EXPECT_EQ(nearest("explain eror", kWords), "explain error");
}

TEST(Suggest, is_silent_when_nothing_is_near) {
  EXPECT_EQ(nearest("kubernetes", kWords), "");
  EXPECT_EQ(nearest("", kWords), "");
  EXPECT_EQ(nearest(std::string(10'000, 'v'), kWords), "");
}

RC_GTEST_PROP(SuggestProperty, distance_is_symmetric_and_bounded,
              (const std::string& a, const std::string& b)) {
  RC_ASSERT(edit_distance(a, b) == edit_distance(b, a));
  RC_ASSERT(edit_distance(a, b) <= std::max(a.size(), b.size()));
  RC_ASSERT((edit_distance(a, b) == 0) == (a == b));
}

}  // namespace
}  // namespace plim
