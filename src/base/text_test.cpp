#include "base/text.hpp"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace plim {
namespace {

TEST(Text, trims_white_space_at_both_ends) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(trim(""), "");
}

TEST(Text, splits_at_every_separator) {
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(split("", ','), (std::vector<std::string_view>{""}));
  EXPECT_EQ(split(",", ','), (std::vector<std::string_view>{"", ""}));
}

TEST(Text, cuts_at_the_first_separator) {
  EXPECT_EQ(cut("a=b=c", '='), (std::pair<std::string_view, std::string_view>("a", "b=c")));
  EXPECT_EQ(cut("a", '='), (std::pair<std::string_view, std::string_view>("a", "")));
}

TEST(Text, folds_ascii_case_only) {
  EXPECT_EQ(to_lower("ÄbC"), "Äbc");
  EXPECT_TRUE(equals_ignoring_case("Content-Type", "content-tYPE"));
  EXPECT_FALSE(equals_ignoring_case("a", "ab"));
  EXPECT_FALSE(equals_ignoring_case("a[", "a{"));
}

TEST(Text, quotes_for_messages) {
  EXPECT_EQ(quote("a\"b\\\n\x01é"), R"("a\"b\\\n\x01é")");
  EXPECT_EQ(quote("\xff"), R"("\xff")");
  EXPECT_EQ(quote(std::string(200, 'x')), "\"" + std::string(80, 'x') + "\"...");
}

TEST(Text, reads_whole_integers_in_range) {
  EXPECT_EQ(*parse_int("-12"), -12);
  EXPECT_EQ(*parse_int<std::uint64_t>("18446744073709551615"), 18446744073709551615u);
  EXPECT_EQ(*parse_int<int>("ff", 16), 255);
  EXPECT_EQ(parse_int<std::uint8_t>("256").error().message,
            "256 is out of range, expected 0 to 255");
  EXPECT_EQ(parse_int("12x").error().message, "expected an integer, found \"12x\"");
  for (const char* bad : {"", "-", "+1", " 1", "1 ", "0x1"}) EXPECT_FALSE(parse_int(bad)) << bad;
  EXPECT_FALSE(parse_int<unsigned>("-1"));
  EXPECT_FALSE(parse_int<std::int64_t>("9223372036854775808"));
}

TEST(Text, reads_doubles_exactly) {
  EXPECT_EQ(*parse_double("123456789.123456789"), 123456789.123456789);
  EXPECT_EQ(*parse_double("1e-999"), 0.0);
  EXPECT_TRUE(std::signbit(*parse_double("-1e-999")));
  EXPECT_EQ(*parse_double("0." + std::string(400, '0') + "1"), 0.0);
  EXPECT_FALSE(parse_double("1e999"));
  EXPECT_FALSE(parse_double("12e9223372036854775807"));
  EXPECT_EQ(*parse_double("0.01e-9223372036854775808"), 0.0);
  EXPECT_FALSE(parse_double(std::string(400, '9')));
  EXPECT_FALSE(parse_double("1e99999999999999999999"));
  for (const char* bad : {"", "inf", "nan", "0x1", "1,5", "1 "})
    EXPECT_FALSE(parse_double(bad)) << bad;
}

TEST(Text, writes_doubles_as_go_does) {
  auto json = [](double value) { return format_double(value, kJsonDouble); };
  EXPECT_EQ(json(1), "1");
  EXPECT_EQ(json(-1.5), "-1.5");
  EXPECT_EQ(json(0), "0");
  EXPECT_EQ(json(1e20), "100000000000000000000");
  EXPECT_EQ(json(1.2345678901234567e20), "123456789012345670000");
  EXPECT_EQ(json(1e21), "1e+21");
  EXPECT_EQ(json(1e-6), "0.000001");
  EXPECT_EQ(json(1.5e-7), "1.5e-7");
  EXPECT_EQ(json(1e-10), "1e-10");
  EXPECT_EQ(format_double(1e6, kYamlDouble), "1e+06");
  EXPECT_EQ(format_double(0.0001, kYamlDouble), "0.0001");
  EXPECT_EQ(format_double(0.00001, kYamlDouble), "1e-05");
  EXPECT_EQ(format_double(1.1f, kYamlDouble), "1.1");
}

TEST(Text, counts_positions_in_characters) {
  std::string_view text = "aé\nbc";
  EXPECT_EQ(position_of(text, 0), (TextPosition{1, 1}));
  EXPECT_EQ(position_of(text, 3), (TextPosition{1, 3}));
  EXPECT_EQ(position_of(text, 5), (TextPosition{2, 2}));
  EXPECT_EQ(position_of(text, 99), (TextPosition{2, 3}));
}

TEST(Text, finds_broken_utf8) {
  EXPECT_EQ(find_invalid_utf8("aé€😀"), std::nullopt);
  EXPECT_EQ(find_invalid_utf8("ab\x80"), 2u);
  for (const char* bad :
       {"\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\xc3", "\xe2\x82", "\xf0\x9f\x98"})
    EXPECT_EQ(find_invalid_utf8(bad), 0u) << quote(bad);
}

RC_GTEST_PROP(Text, doubles_read_back_the_same, (double number)) {
  for (int power : {0, 40, -40, 290}) {
    double value = number * std::pow(10.0, power);
    RC_PRE(std::isfinite(value));
    RC_ASSERT(*parse_double(format_double(value, kJsonDouble)) == value);
    RC_ASSERT(*parse_double(format_double(value, kYamlDouble)) == value);
  }
}

RC_GTEST_PROP(Text, splitting_and_joining_is_the_identity, (const std::string& text)) {
  std::string joined;
  for (std::string_view part : split(text, 'a')) joined += std::string(part) + 'a';
  joined.pop_back();
  RC_ASSERT(joined == text);
}

}  // namespace
}  // namespace plim
