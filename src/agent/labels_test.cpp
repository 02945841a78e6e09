#include "agent/labels.hpp"

#include <gtest/gtest.h>

namespace plim::agent {
namespace {

TEST(Labels, become_names_that_prometheus_accepts) {
  EXPECT_EQ(sanitise_label("app.kubernetes.io/name"), "app_kubernetes_io__name");
  EXPECT_EQ(sanitise_label("a-b"), "a_b");
  EXPECT_EQ(sanitise_label("1st"), "label_1st");
  EXPECT_EQ(sanitise_label("/x"), "label___x");
  EXPECT_EQ(sanitise_label("sp ace\xc3\xa9"), "sp_ace__");
  EXPECT_EQ(sanitise_label(""), "label_");
}

TEST(Labels, keep_the_first_of_keys_that_become_equal) {
  std::vector<std::string> clashes;
  Labels labels = sanitise_labels({{"a.b", "dot"}, {"a-b", "dash"}, {"a_b", "low"}}, clashes);
  EXPECT_EQ(labels, (Labels{{"a_b", "dash"}}));
  EXPECT_EQ(clashes.size(), 2U);
}

TEST(Labels, are_generated_only_where_they_are_missing) {
  std::map<std::string, LabelGenerator> rules;
  rules["app"] = {.pattern = R"(([a-z]+)/([a-z]+)-.*)", .replacement = R"(\2 of \1 $x)"};
  rules["here"] = {.pattern = ".*", .replacement = "new"};
  rules["all"] = {.pattern = "a", .replacement = "b"};
  rules["cpus"] = {.resource = "cpus"};
  rules["lost"] = {.source = "nothing", .pattern = "x", .replacement = "y"};
  auto generators = LabelGenerators::make(rules);
  ASSERT_TRUE(generators);
  NodeTask task{.id = "i", .name = "n", .cgroup_path = "/"};
  task.labels = {{"task_name", "default/banana-1"}, {"here", "old"}};
  task.resources = {{"cpus", 0.5}};
  std::vector<std::string> warnings;
  generators->apply(task, warnings);
  EXPECT_EQ(task.labels["app"], "banana of default $x");
  EXPECT_EQ(task.labels["here"], "old");
  EXPECT_EQ(task.labels["all"], "defbult/bbnbnb-1");
  EXPECT_EQ(task.labels["cpus"], "0.5");
  EXPECT_FALSE(task.labels.contains("lost"));
  EXPECT_EQ(warnings.size(), 1U);
}

TEST(Labels, reject_broken_patterns) {
  std::map<std::string, LabelGenerator> rules;
  rules["app"] = {.pattern = "((", .replacement = "x"};
  EXPECT_EQ(LabelGenerators::make(rules).error().message,
            "error parsing regexp: missing closing ): `((`");
}

}  // namespace
}  // namespace plim::agent
