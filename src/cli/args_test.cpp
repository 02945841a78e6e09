#include "cli/args.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plim::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// "--output=json" for each flag given, in order.
std::vector<std::string> flags_of(const ParsedLine& line) {
  std::vector<std::string> out;
  for (const GivenFlag& given : line.flags)
    out.push_back(std::string(given.flag->name) + "=" + given.value);
  return out;
}

ParsedLine parsed(const std::vector<std::string>& words) {
  auto line = parse_line(words);
  EXPECT_TRUE(line) << line.error().what;
  return line ? std::move(*line) : ParsedLine{};
}

std::string mistake(const std::vector<std::string>& words) {
  auto line = parse_line(words);
  if (line) return "none";
  EXPECT_EQ(line.error().exit, 2);
  return format_failure(line.error(), "plimsoll");
}

TEST(Args, takes_every_spelling_of_a_value) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"raw", "--output", "json"},
                                             {"raw", "--output=json"},
                                             {"raw", "-o", "json"},
                                             {"raw", "-ojson"},
                                             {"raw", "-o=json"}}) {
    EXPECT_THAT(flags_of(parsed(words)), ElementsAre("output=json")) << words[1];
  }
}

TEST(Args, takes_values_that_look_like_something_else) {
  EXPECT_THAT(flags_of(parsed({"raw", "-d", "-"})), ElementsAre("data=-"));
  EXPECT_THAT(flags_of(parsed({"raw", "-n", "--watch"})), ElementsAre("namespace=--watch"));
  EXPECT_THAT(flags_of(parsed({"raw", "--namespace=", "/x"})), ElementsAre("namespace="));
  EXPECT_THAT(flags_of(parsed({"raw", "-s", "[::1]"})), ElementsAre("server=[::1]"));
  EXPECT_THAT(flags_of(parsed({"raw", "-o", "jsonpath={.a=='b'}"})),
              ElementsAre("output=jsonpath={.a=='b'}"));
}

TEST(Args, joins_switches_and_keeps_a_value_at_their_end) {
  EXPECT_THAT(flags_of(parsed({"raw", "-qwn", "x"})),
              ElementsAre("quiet=true", "watch=true", "namespace=x"));
  EXPECT_THAT(flags_of(parsed({"raw", "-qv=6"})), ElementsAre("quiet=true", "v=6"));
  EXPECT_THAT(flags_of(parsed({"raw", "--watch=false"})), ElementsAre("watch=false"));
}

TEST(Args, a_flag_with_an_optional_value_takes_it_only_after_the_equals_sign) {
  const ParsedLine alone = parsed({"install", "--dry-run", "servo"});
  EXPECT_THAT(flags_of(alone), ElementsAre("dry-run=client"));
  EXPECT_THAT(alone.arguments, ElementsAre("servo"));
  EXPECT_THAT(flags_of(parsed({"install", "--dry-run=server"})), ElementsAre("dry-run=server"));
}

TEST(Args, flags_may_be_anywhere) {
  ParsedLine line = parsed({"-n", "kube-system", "explain", "-q", "error", "PLM-1001", "--json"});
  ASSERT_NE(line.command, nullptr);
  EXPECT_EQ(line.command->name, "explain error");
  EXPECT_THAT(line.arguments, ElementsAre("PLM-1001"));
  EXPECT_THAT(flags_of(line), ElementsAre("namespace=kube-system", "quiet=true", "json=true"));
}

TEST(Args, words_of_other_commands_are_arguments) {
  EXPECT_THAT(parsed({"help", "version"}).arguments, ElementsAre("version"));
  EXPECT_EQ(parsed({"help", "version"}).command->name, "help");
}

TEST(Args, two_dashes_end_the_flags) {
  ParsedLine line = parsed({"__complete", "--", "version", "--client", "-o"});
  EXPECT_THAT(line.arguments, ElementsAre("version", "--client", "-o"));
  EXPECT_THAT(line.flags, IsEmpty());
}

TEST(Args, a_group_alone_is_not_a_command) {
  ParsedLine line = parsed({"explain"});
  EXPECT_EQ(line.command, nullptr);
  EXPECT_EQ(line.group, "explain");
}

TEST(Args, help_wins_over_mistakes_after_it) {
  EXPECT_TRUE(parsed({"version", "--help", "--bogus"}).help);
  EXPECT_TRUE(parsed({"-h"}).help);
  EXPECT_TRUE(parsed({"--help", "nonsense"}).help);
}

TEST(Args, mistakes_are_one_line_with_a_suggestion) {
  EXPECT_EQ(mistake({"verson"}),
            "error PLM-1001: unknown command \"verson\"; did you mean \"version\"?\n");
  EXPECT_EQ(mistake({"version", "--clinet"}),
            "error PLM-1002: unknown flag --clinet of version; did you mean --client?\n");
  EXPECT_THAT(mistake({"explain", "eror"}), HasSubstr("did you mean \"explain error\"?"));
  EXPECT_THAT(mistake({"version", "-Z"}), HasSubstr("unknown flag -Z of version"));
  EXPECT_THAT(mistake({"--nonsense"}), HasSubstr("plimsoll options"));
  EXPECT_THAT(mistake({"raw", "-n"}), HasSubstr("-n needs a value"));
}

TEST(Args, knows_where_the_cursor_is) {
  CursorPlace value = place_of_cursor({"version", "-o", "js"});
  ASSERT_NE(value.value_of, nullptr);
  EXPECT_EQ(value.value_of->name, "output");

  CursorPlace joined = place_of_cursor({"version", "--output=js"});
  ASSERT_NE(joined.value_of, nullptr);
  EXPECT_EQ(joined.inline_prefix, "--output=");

  CursorPlace argument = place_of_cursor({"--context", "dev", "completion", ""});
  EXPECT_EQ(argument.command->name, "completion");
  EXPECT_EQ(argument.argument_index, 0u);
  EXPECT_EQ(argument.flags.front().value, "dev");

  EXPECT_TRUE(place_of_cursor({"help", "--", "-"}).flags_ended);
  EXPECT_EQ(place_of_cursor({}).command, nullptr);
}

}  // namespace
}  // namespace plim::cli
