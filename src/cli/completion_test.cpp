#include "cli/completion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/manual.hpp"
#include "cli/start_names.hpp"

namespace plim::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<Candidate> no_names(Live, const CursorPlace&) {
  return {};
}

std::vector<std::string> texts(const std::vector<std::string>& words,
                               const LiveNames& live = no_names) {
  std::vector<std::string> out;
  for (const Candidate& one : complete(words, live).list) out.push_back(one.text);
  return out;
}

TEST(Completion, offers_commands_but_no_hidden_ones) {
  EXPECT_THAT(texts({""}), Contains("version"));
  EXPECT_THAT(texts({""}), Contains("explain"));
  EXPECT_THAT(texts({""}), Not(Contains("__complete")));
  EXPECT_THAT(texts({"ver"}), ElementsAre("version"));
  EXPECT_THAT(texts({"explain", ""}), ElementsAre("pod", "error"));
}

TEST(Completion, offers_flags_of_the_command_and_of_all) {
  EXPECT_THAT(texts({"version", "--cl"}), ElementsAre("--client", "--cluster"));
  EXPECT_THAT(texts({"--cl"}), ElementsAre("--cluster"));
}

TEST(Completion, offers_values_in_both_spellings) {
  EXPECT_THAT(texts({"version", "-o", "j"}), ElementsAre("json", "jsonpath="));
  EXPECT_THAT(texts({"version", "--output=y"}), ElementsAre("--output=yaml"));
  EXPECT_THAT(texts({"completion", ""}), ElementsAre("bash", "zsh", "fish"));
  EXPECT_THAT(texts({"--color", "a"}), ElementsAre("auto", "always"));
  EXPECT_THAT(texts({"completion", "bash", ""}), IsEmpty());
}

TEST(Completion, live_names_see_the_flags_before_them) {
  std::string context;
  LiveNames live = [&](Live kind, const CursorPlace& place) -> std::vector<Candidate> {
    EXPECT_EQ(kind, Live::ns);
    for (const GivenFlag& given : place.flags)
      if (given.flag->name == "context") context = given.value;
    return {{"default"}, {"kube-system"}};
  };
  EXPECT_THAT(texts({"raw", "--context=dev", "-n", "k"}, live), ElementsAre("kube-system"));
  EXPECT_EQ(context, "dev");
}

TEST(Completion, says_what_the_shell_should_do) {
  EXPECT_EQ(complete({"raw", "-d", ""}, no_names).directive(), 0);       // files
  EXPECT_EQ(complete({"man", ""}, no_names).directive(), 16);            // folders
  EXPECT_EQ(complete({"raw", "/"}, no_names).directive(), 4);            // nothing else
  EXPECT_EQ(complete({"raw", "-o", "jsonp"}, no_names).directive(), 6);  // goes on after '='
  EXPECT_EQ(complete({}, no_names).directive(), 4);
}

TEST(Completion, scripts_hold_the_whole_table) {
  for (const std::string& script : {bash_completion(), zsh_completion(), fish_completion()}) {
    EXPECT_THAT(script, Not(::testing::ContainsRegex("@[A-Z_]+@")));
    for (const Command& command : commands()) {
      if (command.hidden) continue;
      EXPECT_THAT(script, HasSubstr(std::string(command.name)));
    }
    for (const Flag& flag : global_flags()) EXPECT_THAT(script, HasSubstr(std::string(flag.name)));
  }
}

TEST(Manual, has_a_page_for_every_command_and_plain_text_only) {
  std::vector<Page> pages = manual_pages();
  std::vector<std::string> files;
  for (const Page& page : pages) {
    files.push_back(page.file);
    EXPECT_TRUE(page.text.starts_with(".TH ")) << page.file;
    for (char c : page.text) ASSERT_LT(static_cast<unsigned char>(c), 0x7f) << page.file;
  }
  EXPECT_THAT(files, Contains("plimsoll.1"));
  EXPECT_THAT(files, Contains("plimsoll-config.5"));
  EXPECT_THAT(files, Contains("plimsoll-explain-error.1"));
  EXPECT_THAT(files, Not(Contains("plimsoll-__complete.1")));
}

TEST(Roles, are_known_by_the_last_part_of_the_path) {
  ASSERT_NE(find_start_name("/usr/local/bin/kube-scheduler"), nullptr);
  EXPECT_EQ(find_start_name("/usr/local/bin/kube-scheduler")->command, "scheduler");
  EXPECT_EQ(find_start_name("kubectl-plimsoll")->command, "plimsoll");
  EXPECT_EQ(find_start_name("plimsoll"), nullptr);
  EXPECT_EQ(find_start_name(""), nullptr);
}

}  // namespace
}  // namespace plim::cli
