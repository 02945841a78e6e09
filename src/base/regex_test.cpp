#include "base/regex.hpp"

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace plim {
namespace {

std::string why_not(std::string_view pattern) {
  auto compiled = Regex::compile(pattern);
  return compiled ? "" : compiled.error().message;
}

TEST(Regex, finds_a_match_somewhere_in_the_text) {
  struct Case {
    const char* pattern;
    const char* text;
    bool matches;
  };

  const Case cases[] = {
      {"", "", true},
      {"", "x", true},
      {"a", "cat", true},
      {"^a$", "cat", false},
      {"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "my-name", true},
      {"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "my-name-", false},
      {"^\\d{1,3}(\\.\\d{1,3}){3}$", "10.0.0.255", true},
      {"^\\d{1,3}(\\.\\d{1,3}){3}$", "10.0.0", false},
      {"^(foo|bar|)$", "bar", true},
      {"^(foo|bar|)$", "", true},
      {"^(foo|bar|)$", "baz", false},
      {"^a+b*c?$", "aab", true},
      {"^a{2,}$", "a", false},
      {"^a{2,}$", "aaaa", true},
      {"^a{2}$", "aaa", false},
      {"^(?:ab)+$", "abab", true},
      {"^(?P<x>ab)$", "ab", true},
      {"^(?<x>ab)$", "ab", true},
      {"(?i)^AB$", "ab", true},
      {"^\\p{L}+$", "caf\u00e9", true},
      {"^[\\p{L}]{1,253}$", "caf\u00e9", true},
      {"^.$", "\n", false},
      {"^.$", "\u00e9", true},
      {"^[^a-c]$", "d", true},
      {"^[^a-c]$", "b", false},
      {"^[]a]$", "]", true},
      {"^[a-]$", "-", true},
      {"^[\\w.]+$", "a_1.b", true},
      {"^[\\W]$", "a", false},
      {"^[[:alpha:]]+$", "abC", true},
      {"^\\x41\\x{e9}$", "A\u00e9", true},
      {"\\bword\\b", "a word here", true},
      {"\\bword\\b", "swords", false},
      {"^a|b$", "xb", true},
      {"^x{y}$", "x{y}", true},
      {"^[0-9]+(s|m|h)$", "15m", true},
      {"^(a*)*$", "aaaa", true},
      {"^a*?b$", "aab", true},
  };
  for (const Case& c : cases) {
    auto compiled = Regex::compile(c.pattern);
    ASSERT_TRUE(compiled) << c.pattern << ": " << compiled.error().message;
    EXPECT_EQ(compiled->partial_match(c.text), c.matches) << c.pattern << " on " << c.text;
  }
}

TEST(Regex, reports_mistakes_in_the_words_of_go) {
  const std::pair<const char*, const char*> cases[] = {
      {"(", "missing closing ): `(`"},
      {")", "unexpected ): `)`"},
      {"[a", "missing closing ]: `[a`"},
      {"a**", "invalid nested repetition operator: `**`"},
      {"*a", "missing argument to repetition operator: `*`"},
      {"(?=a)", "invalid or unsupported Perl syntax: `(?=`"},
      {"(?!a)", "invalid or unsupported Perl syntax: `(?!`"},
      {"(?<=a)", "invalid or unsupported Perl syntax: `(?<`"},
      {"\\1", "invalid escape sequence: `\\1`"},
      {"\\x4", "invalid escape sequence: `\\x4`"},
      {"\\\u00e9", "invalid escape sequence: `\\\u00e9`"},
      {"[b-a]", "invalid character class range: `b-a`"},
      {"[[:none:]]", "invalid character class range: `[:none:]`"},
      {"a{2,1}", "invalid repeat count: `{2,1}`"},
      {"a{1001}", "invalid repeat count: `{1001}`"},
      {"((a{100}){100}){100}", "invalid repeat count: `{100}`"},
      {"\\", "trailing backslash at end of expression: ``"},
      {"(?P<a!>b)", "invalid named capture: `(?P<a!>`"},
      {"[\\pL\\pN]{1000}[\\pL\\pN]{1000}",
       "expression too large: `[\\pL\\pN]{1000}[\\pL\\pN]{1000}`"},
      {"a\xff", "invalid UTF-8: `a\xff`"},
  };
  for (const auto& [pattern, reason] : cases)
    EXPECT_EQ(why_not(pattern), std::string("error parsing regexp: ") + reason) << pattern;
}

TEST(Regex, survives_deep_nesting) {
  constexpr std::size_t kDeep = 20'000;
  const std::string open(kDeep, '('), closed(kDeep, ')');
  EXPECT_TRUE(Regex::compile(open + closed).value().partial_match("x"));
  EXPECT_FALSE(Regex::compile(open));
}

TEST(Regex, leaves_text_alone_that_only_looks_like_a_named_group) {
  for (const auto& [pattern, text] :
       std::vector<std::pair<const char*, const char*>>{{"[(?<a]+", "(?<a"},
                                                        {"[](?<a]+", "](?<a"},
                                                        {"[[:digit:](?<a]+", "1(?<a"},
                                                        {"\\Q(?<a\\E", "(?<a"},
                                                        {"\\Q(?<a", "(?<a"},
                                                        {"\\(?<a", "(<a"}}) {
    auto compiled = Regex::compile(pattern);
    ASSERT_TRUE(compiled) << pattern;
    EXPECT_TRUE(compiled->full_match(text)) << pattern;
    EXPECT_FALSE(compiled->partial_match("P")) << pattern;
  }
}

TEST(Regex, does_not_unroll_repeats_of_nothing) {
  for (const char* pattern : {"((((){1000}){1000}){1000}){1000}", "((^{1000}){1000}){1000}",
                              "(((|){1000}){1000}){1000}", "((\\b{1000}){1000}){1000}"})
    EXPECT_EQ(why_not(pattern).substr(0, 42), "error parsing regexp: invalid repeat count")
        << pattern;
  EXPECT_TRUE(Regex::compile("(((((()*)*)*)*)*)*")->full_match(""));
}

TEST(Regex, takes_linear_time) {
  const auto pattern = Regex::compile("^(a+)+$").value();
  EXPECT_FALSE(pattern.partial_match(std::string(5000, 'a') + "b"));
}

TEST(Regex, anchors_where_it_is_told_to) {
  const auto pattern = Regex::compile("b+").value();
  EXPECT_TRUE(pattern.partial_match("abc"));
  EXPECT_FALSE(pattern.prefix_match("abc"));
  EXPECT_TRUE(pattern.prefix_match("bc"));
  EXPECT_FALSE(pattern.full_match("bc"));
  EXPECT_TRUE(pattern.full_match("bb"));
}

TEST(Regex, hands_out_groups) {
  const auto pattern = Regex::compile(R"((\w+)-(x)?(\d+))").value();
  EXPECT_EQ(pattern.groups(), 3u);
  std::array<std::string_view, 5> captures;
  ASSERT_TRUE(pattern.partial_match("  ab-12!", captures));
  EXPECT_EQ(captures, (std::array<std::string_view, 5>{"ab-12", "ab", "", "12", ""}));
  std::array<std::string_view, 1> whole;
  ASSERT_TRUE(pattern.prefix_match("ab-x12!", whole));
  EXPECT_EQ(whole[0], "ab-x12");
}

TEST(Regex, replaces_every_match) {
  struct Case {
    const char *pattern, *text, *replacement, *expected;
  };

  const Case cases[] = {
      {"a", "banana", "o", "bonono"},
      {"x", "banana", "o", "banana"},
      {"(\\w)(\\w)", "abcd", "\\2\\1", "badc"},
      {"b+", "abbc", "<\\0>", "a<bb>c"},
      {"b", "abc", "\\7$1\\\\", "a$1\\c"},  // no group 7
      {"b", "abc", "x\\", "ax\\c"},
      {"^a", "aaa", "b", "baa"},
      {"x*", "abxd", "-", "-a-b--d-"},
      {"x*", "\u00e9", "-", "-\u00e9-"},
      {"", "", "-", "-"},
  };
  for (const Case& c : cases)
    EXPECT_EQ(Regex::compile(c.pattern).value().replace_all(c.text, c.replacement), c.expected)
        << c.pattern << " in " << c.text;
}

TEST(Regex, copies_share_what_is_compiled) {
  Regex copy = Regex::compile("b").value();
  {
    const auto other = Regex::compile("a").value();
    copy = other;
  }
  EXPECT_TRUE(copy.full_match("a"));
}

}  // namespace
}  // namespace plim
