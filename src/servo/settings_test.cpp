#include "servo/settings.hpp"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plim::servo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Variables = std::map<std::string, std::string, std::less<>>;

GetSetting from(const Variables& values) {
  return [&values](std::string_view name) -> std::optional<std::string> {
    auto found = values.find(name);
    if (found == values.end()) return {};
    return found->second;
  };
}

Result<Settings> read(const Variables& values) {
  return read_settings(from(values));
}

std::string mistake(const Variables& values) {
  auto settings = read(values);
  return settings ? "accepted" : settings.error().message;
}

TEST(Settings, without_settings_runs_are_stored_and_not_posted) {
  auto settings = read({});
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_FALSE(settings->posts());
  EXPECT_THAT(settings->jobs.namespaces.names, ElementsAre("default"));
  EXPECT_EQ(settings->listen, ":8080");
  EXPECT_EQ(settings->jobs.container, "0");
}

TEST(Settings, an_account_alone_means_the_old_default_url) {
  auto settings = read({{"OPTUNE_ACCOUNT", "me"}});
  ASSERT_TRUE(settings);
  EXPECT_TRUE(settings->posts());
  EXPECT_EQ(settings->url->origin(), "https://us-central1-optune-saas-collect.cloudfunctions.net");
  EXPECT_EQ(settings->url->expand({.app = "a"}).path, "/metrics/me/a/servo");
}

TEST(Settings, the_sink_store_posts_nothing) {
  auto settings = read({{"OPTUNE_URL", "http://h/{app_id}"}, {"PLIMSOLL_SERVO_SINK", "store"}});
  ASSERT_TRUE(settings);
  EXPECT_FALSE(settings->posts());
}

TEST(Settings, namespaces_are_trimmed_and_empty_ones_ignored) {
  EXPECT_THAT(parse_namespaces("a, b,,")->names, ElementsAre("a", "b"));
  EXPECT_THAT(parse_namespaces("a,a")->names, ElementsAre("a"));
  EXPECT_THAT(parse_namespaces(" , ")->names, ElementsAre("default"));
  EXPECT_TRUE(parse_namespaces("a,*")->all());
  EXPECT_TRUE(parse_namespaces("*")->contains("whatever"));
  EXPECT_FALSE(parse_namespaces("a,b")->contains("c"));
  for (const char* bad : {"A", "a b", "-a", "a-", "../x", "a/b", "a.b", "\u00e4"})
    EXPECT_FALSE(parse_namespaces(bad)) << bad;
}

TEST(Settings, errors_name_the_variable) {
  EXPECT_THAT(mistake({{"OPTUNE_APP_ID", "a/["}}), HasSubstr("OPTUNE_APP_ID: column 3"));
  EXPECT_THAT(mistake({{"OPTUNE_URL", "http://h/{x}"}}), HasSubstr("OPTUNE_URL: column 10"));
  EXPECT_THAT(mistake({{"OPTUNE_URL", "http://h/{acct}"}}), HasSubstr("OPTUNE_ACCOUNT"));
  EXPECT_THAT(mistake({{"POD_NAMESPACES", "Bad"}}), HasSubstr("POD_NAMESPACES: \"Bad\""));
  EXPECT_THAT(mistake({{"PLIMSOLL_SERVO_SINK", "x"}}), HasSubstr("PLIMSOLL_SERVO_SINK"));
  EXPECT_THAT(mistake({{"SELF_IP", "x"}}), HasSubstr("SELF_IP"));
  EXPECT_EQ(mistake({{"SELF_IP", "fd00::1"}}), "accepted");
  EXPECT_EQ(mistake({{"OPTUNE_SLEEPER_IMG", "pause:3"}}), "accepted");
  for (const char* bad : {"-1", "Main", "a b", "a/b"})
    EXPECT_THAT(mistake({{"PLIMSOLL_SERVO_CONTAINER", bad}}), HasSubstr(bad));
  for (const char* good : {"0", "12", "main", "a-1"})
    EXPECT_EQ(mistake({{"PLIMSOLL_SERVO_CONTAINER", good}}), "accepted");
}

TEST(Settings, of_the_monitor_are_its_image_and_its_target) {
  const auto monitor = [](const Variables& values) { return read_monitor(from(values)); };
  EXPECT_EQ(monitor({})->image, "");
  EXPECT_EQ(monitor({{"OPTUNE_SLEEPER_IMG", "pause:3"}})->target, "");
  EXPECT_EQ(monitor({{"SELF_IP", "10.0.0.1"}})->target, "10.0.0.1");
  EXPECT_EQ(monitor({{"SELF_IP", "fd00::1"}})->target, "[fd00::1]");
  EXPECT_EQ(monitor({{"SELF_IP", "servo-k8s-multijob.default.svc"}})->target,
            "servo-k8s-multijob.default.svc");
  for (const char* bad : {"a b", "http://x", "[::1]", "-x", "10.0.0.1:8080", "x/y", "\n"})
    EXPECT_FALSE(monitor({{"SELF_IP", bad}})) << bad;
  EXPECT_FALSE(monitor({{"OPTUNE_SLEEPER_IMG", "two words"}}));
}

TEST(Settings, a_token_with_a_line_break_is_rejected_and_not_shown) {
  const std::string said = mistake({{"OPTUNE_AUTH_TOKEN", "secret\nX-Evil: 1"}});
  EXPECT_THAT(said, HasSubstr("OPTUNE_AUTH_TOKEN: the token contains a line break"));
  EXPECT_THAT(said, ::testing::Not(HasSubstr("secret")));
}

TEST(Settings, an_invalid_verbosity_counts_as_zero) {
  EXPECT_EQ(read({{"OPTUNE_DEBUG", "x"}})->debug, 0);
  EXPECT_EQ(read({{"OPTUNE_DEBUG", "3"}})->debug, 3);
  EXPECT_EQ(read({{"OPTUNE_DEBUG", "99"}})->debug, 5);
}

}  // namespace
}  // namespace plim::servo
