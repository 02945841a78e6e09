#include "base/utf8.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace plim {
namespace {

TEST(Utf8, decodes_one_to_four_bytes) {
  EXPECT_EQ(decode_utf8("a").point, U'a');
  EXPECT_EQ(decode_utf8("é!").point, U'é');
  EXPECT_EQ(decode_utf8("€").length, 3u);
  EXPECT_EQ(decode_utf8("🚢").point, U'🚢');
}

TEST(Utf8, rejects_what_is_not_utf8) {
  for (std::string_view bad :
       {"\x80", "\xc3", "\xc3(", "\xe2\x82", "\xff", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80",
        "\xf4\x90\x80\x80", "\xf0\x80\x80\x80"}) {
    EXPECT_FALSE(decode_utf8(bad).valid);
    EXPECT_EQ(decode_utf8(bad).length, 1u);
  }
}

TEST(Utf8, escapes_controls_only) {
  EXPECT_EQ(escape_controls("a\tb\n\x1b[0m é \xff \xc2\x85"), "a\\tb\\n\\x1b[0m é \\xff \\x85");
}

TEST(Utf8, counts_characters) {
  EXPECT_EQ(count_characters(""), 0u);
  EXPECT_EQ(count_characters("a\u00e9\u20ac"), 3u);
  EXPECT_EQ(count_characters("a\xff\xc3"), 3u);
}

TEST(Utf8, width_counts_columns) {
  EXPECT_EQ(display_width("plain"), 5u);
  EXPECT_EQ(display_width("né"), 2u);
  EXPECT_EQ(display_width("ne\u0301"), 2u);
  EXPECT_EQ(display_width("日本"), 4u);
  EXPECT_EQ(display_width("🚢"), 2u);
}

RC_GTEST_PROP(Utf8, every_point_survives_a_round_trip, ()) {
  auto point = static_cast<char32_t>(*rc::gen::inRange(0, 0x110000));
  RC_PRE(point < 0xd800 || point > 0xdfff);
  std::string text;
  append_utf8(text, point);
  const Utf8Char c = decode_utf8(text);
  RC_ASSERT(c.valid && c.point == point && c.length == text.size());
}

RC_GTEST_PROP(Utf8, cleaned_text_is_valid_and_valid_text_stays, (const std::string& bytes)) {
  const std::string clean = to_valid_utf8(bytes);
  RC_ASSERT(to_valid_utf8(clean) == clean);
  std::string_view rest = clean;
  while (!rest.empty()) {
    const Utf8Char c = decode_utf8(rest);
    RC_ASSERT(c.valid);
    rest.remove_prefix(c.length);
  }
}

}  // namespace
}  // namespace plim
