#include "cli/settings_file.hpp"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plim::cli {
namespace {

using ::testing::HasSubstr;
using Environment = std::map<std::string, std::string, std::less<>>;

kube::GetEnv env_of(Environment environment) {
  return
      [environment = std::move(environment)](std::string_view name) -> std::optional<std::string> {
        auto at = environment.find(name);
        return at == environment.end() ? std::nullopt : std::optional(at->second);
      };
}

Outcome<Values> settled(const std::vector<std::string>& words, Environment environment = {},
                        std::string_view file = "") {
  auto line = parse_line(words);
  if (!line) return tl::unexpected(line.error());
  auto settings = SettingsFile::parse(file, "config.yaml");
  if (!settings) return tl::unexpected(settings.error());
  return settle(*line, env_of(std::move(environment)), *settings);
}

std::string mistake(const Outcome<Values>& values) {
  if (values) return "none";
  EXPECT_EQ(values.error().exit, 2);
  return format_failure(values.error(), "plimsoll");
}

TEST(Settings, flag_wins_over_environment_over_file_over_default) {
  std::string_view file = "doctor:\n  host-root: /file\n";
  Environment environment{{"PLIMSOLL_DOCTOR_HOST_ROOT", "/env"}};
  EXPECT_EQ(settled({"doctor", "--host-root=/flag"}, environment, file)->text("host-root"),
            "/flag");
  EXPECT_EQ(settled({"doctor"}, environment, file)->text("host-root"), "/env");
  EXPECT_EQ(settled({"doctor"}, {}, file)->text("host-root"), "/file");
  EXPECT_EQ(settled({"doctor"})->text("host-root"), "/");
}

TEST(Settings, the_commands_own_variable_wins_over_the_general_one) {
  Environment environment{{"PLIMSOLL_CONTEXT", "general"}, {"PLIMSOLL_VERSION_CONTEXT", "own"}};
  EXPECT_EQ(settled({"version"}, environment)->text("context"), "own");
  EXPECT_EQ(settled({"doctor"}, environment)->text("context"), "general");
}

TEST(Settings, an_empty_variable_is_not_set) {
  EXPECT_EQ(settled({"version"}, {{"PLIMSOLL_VERSION_TIMEOUT", ""}})->text("timeout"), "2s");
}

TEST(Settings, a_general_output_holds_where_it_makes_sense) {
  std::string_view file = "output: wide\n";
  EXPECT_EQ(settled({"doctor"}, {}, file)->text("output"), "wide");
  EXPECT_EQ(settled({"version"}, {}, file)->text("output"), "");
  EXPECT_EQ(settled({"completion", "bash"}, {{"PLIMSOLL_OUTPUT", "json"}}, "")->text("output"), "");
  EXPECT_THAT(mistake(settled({"version", "-o", "wide"})),
              HasSubstr("-o: \"wide\" cannot be used"));
  EXPECT_THAT(mistake(settled({"completion", "bash", "-o", "json"})), HasSubstr("has no -o"));
}

TEST(Settings, values_are_checked_wherever_they_come_from) {
  EXPECT_THAT(mistake(settled({"version", "--timeout", "soon"})),
              HasSubstr("--timeout: \"soon\" cannot be used; expected a duration"));
  EXPECT_THAT(mistake(settled({"version"}, {{"PLIMSOLL_VERSION_CLIENT", "maybe"}})),
              HasSubstr("PLIMSOLL_VERSION_CLIENT: \"maybe\" cannot be used"));
  EXPECT_THAT(mistake(settled({"version"}, {}, "v: many\n")), HasSubstr("PLM-1006"));
  EXPECT_THAT(mistake(settled({"version", "--color", "pink"})), HasSubstr("auto, always, never"));
  EXPECT_THAT(mistake(settled({"raw", "/x", "-o", "jsonpath="})),
              HasSubstr("template must follow"));
  EXPECT_THAT(mistake(settled({"version", "--timeout", "-5s"})), HasSubstr("cannot be used"));
}

TEST(Settings, typed_values_come_out) {
  auto values = settled({"version", "-v=4", "--client", "--timeout=1m30s"});
  ASSERT_TRUE(values);
  EXPECT_EQ(values->integer("v"), 4);
  EXPECT_TRUE(values->boolean("client"));
  EXPECT_EQ(values->duration("timeout"), std::chrono::seconds(90));
  EXPECT_TRUE(values->given("client"));
  EXPECT_FALSE(values->given("context"));
}

TEST(Settings, the_last_of_repeated_flags_wins) {
  EXPECT_EQ(settled({"version", "-s", "a", "--server", "b"})->text("server"), "b");
}

TEST(Settings, mistakes_in_the_file_name_line_and_column) {
  EXPECT_THAT(mistake(settled({"version"}, {}, "context: a\nclust: b\n")),
              HasSubstr("config.yaml:2:1: \"clust\" is not a flag"));
  EXPECT_THAT(mistake(settled({"version"}, {}, "doctor:\n  bogus: 1\n")),
              HasSubstr("config.yaml:2:3: \"bogus\" is not a flag of doctor"));
  EXPECT_THAT(mistake(settled({"version"}, {}, "doctor: [1]\n")), HasSubstr("config.yaml:1:"));
  EXPECT_THAT(mistake(settled({"version"}, {}, "context:\n  a: b\n")),
              HasSubstr("expected a value for context"));
  EXPECT_THAT(mistake(settled({"version"}, {}, "- a\n")), HasSubstr("config.yaml:1:1"));
  EXPECT_THAT(mistake(settled({"version"}, {}, "a: [\n")), HasSubstr("config.yaml:"));
}

TEST(Settings, commands_of_two_words_nest) {
  std::string_view file = "explain:\n  error:\n    output: json\n";
  EXPECT_EQ(settled({"explain", "error"}, {}, file)->text("output"), "json");
}

TEST(Settings, an_empty_file_is_fine) {
  EXPECT_TRUE(settled({"version"}, {}, "# nothing\n"));
}

TEST(Settings, without_a_home_there_is_no_file) {
  EXPECT_TRUE(SettingsFile::load(env_of({})));
  EXPECT_TRUE(SettingsFile::load(env_of({{"HOME", "/nonexistent"}})));
  EXPECT_TRUE(SettingsFile::load(env_of({{"XDG_CONFIG_HOME", "/nonexistent"}})));
}

}  // namespace
}  // namespace plim::cli
