#include "local/apiserver/crd/pattern.hpp"

#include <gtest/gtest.h>

namespace plim::local::apiserver {
namespace {

TEST(Pattern, matches_as_re2_does) {
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
      {"^.$", "\n", false},
      {"^.$", "é", true},
      {"^[^a-c]$", "d", true},
      {"^[^a-c]$", "b", false},
      {"^[]a]$", "]", true},
      {"^[a-]$", "-", true},
      {"^[\\w.]+$", "a_1.b", true},
      {"^[\\W]$", "a", false},
      {"^[[:alpha:]]+$", "abC", true},
      {"^\\x41\\x{e9}$", "Aé", true},
      {"\\bword\\b", "a word here", true},
      {"\\bword\\b", "swords", false},
      {"^a|b$", "xb", true},
      {"^x{y}$", "x{y}", true},
      {"^[0-9]+(s|m|h)$", "15m", true},
      {"^(a*)*$", "aaaa", true},
      {"^a*?b$", "aab", true},
  };
  for (const Case& c : cases) {
    auto pattern = Pattern::parse(c.pattern);
    ASSERT_TRUE(pattern) << c.pattern << ": " << pattern.error().message;
    EXPECT_EQ(pattern->matches(c.text), c.matches) << c.pattern << " on " << c.text;
  }
}

TEST(Pattern, refuses_what_it_cannot_match) {
  for (const char* pattern :
       {"(", ")", "[a", "a**", "*a", "(?=a)", "(?!a)", "(?<=a)", "\\1", "\\p{L}", "\\x4", "[b-a]",
        "a{2,1}", "a{1001}", "\\", "[[:none:]]", "(?i)a"})
    EXPECT_FALSE(Pattern::parse(pattern)) << pattern;
  EXPECT_FALSE(Pattern::parse("((a{100}){100}){100}"));
  EXPECT_FALSE(Pattern::parse(std::string(1000, '(') + std::string(1000, ')')));
}

TEST(Pattern, takes_escaped_characters_whole) {
  EXPECT_TRUE(Pattern::parse("^\\\u00e9$").value().matches("\u00e9"));
  EXPECT_TRUE(Pattern::parse("^[\\\u00e9x]$").value().matches("\u00e9"));
}

TEST(Pattern, takes_linear_time) {
  const auto pattern = Pattern::parse("^(a+)+$").value();
  EXPECT_FALSE(pattern.matches(std::string(5000, 'a') + "b"));
}

}  // namespace
}  // namespace plim::local::apiserver
