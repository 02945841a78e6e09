#include "kube/toleration.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace plim::kube {
namespace {

bool tolerate(std::string_view tolerations, std::string_view key, std::string_view value,
              std::string_view effect) {
  InternPool pool;
  return tolerated(parse_tolerations(tolerations),
                   {.key = pool(key), .value = pool(value), .effect = pool(effect)});
}

TEST(Tolerations, match_by_key_value_and_effect) {
  constexpr std::string_view kEqual = R"([{"key": "a", "value": "1", "effect": "NoSchedule"}])";
  EXPECT_TRUE(tolerate(kEqual, "a", "1", "NoSchedule"));
  EXPECT_FALSE(tolerate(kEqual, "a", "2", "NoSchedule"));
  EXPECT_FALSE(tolerate(kEqual, "b", "1", "NoSchedule"));
  EXPECT_FALSE(tolerate(kEqual, "a", "1", "NoExecute"));
  EXPECT_TRUE(tolerate(R"([{"key": "a", "operator": "Exists"}])", "a", "2", "NoExecute"));
  EXPECT_TRUE(tolerate(R"([{"operator": "Exists"}])", "b", "", "PreferNoSchedule"));
  EXPECT_TRUE(tolerate(R"([{"key": "b"}, {"key": "a"}])", "a", "", "NoSchedule"));
}

TEST(Tolerations, an_invalid_toleration_tolerates_nothing) {
  for (std::string_view text : {"", "null", "{", "{}", "[]"})
    EXPECT_FALSE(tolerate(text, "a", "", "NoSchedule")) << text;
}

TEST(Tolerations, of_a_node_without_new_pods) {
  EXPECT_TRUE(unschedulable_is_tolerated(
      parse_tolerations(R"([{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}])")));
  EXPECT_FALSE(unschedulable_is_tolerated(parse_tolerations(
      R"([{"key": "node.kubernetes.io/unschedulable", "effect": "NoExecute"}])")));
}

TEST(Tolerations, compare_integers_if_enabled) {
  InternPool pool;
  const auto compare = [&](std::string_view op, std::string_view mine, std::string_view its,
                           NumericTolerations numeric = NumericTolerations::on) {
    const std::string text = fmt::format(
        R"([{{"key": "a", "operator": "{}", "value": "{}", "effect": "NoSchedule"}}])", op, mine);
    return tolerated(parse_tolerations(text, numeric),
                     {.key = pool("a"), .value = pool(its), .effect = pool("NoSchedule")});
  };
  EXPECT_TRUE(compare("Gt", "5", "6"));
  EXPECT_FALSE(compare("Gt", "5", "5"));
  EXPECT_TRUE(compare("Lt", "5", "-6"));
  EXPECT_FALSE(compare("Lt", "-7", "-6"));
  EXPECT_FALSE(compare("Gt", "5", "6", NumericTolerations::off));
  EXPECT_FALSE(compare("Other", "5", "5"));
  for (std::string_view odd : {"", "-", "06", "-0", "+6", "6.0", " 6", "99999999999999999999"})
    EXPECT_FALSE(compare("Gt", "5", odd)) << odd;
}

TEST(Tolerations, may_be_limited) {
  const auto read = parse_tolerations(
      R"([{"tolerationSeconds": 30}, {"tolerationSeconds": -1}, {"tolerationSeconds": 0}, {}])");
  ASSERT_EQ(read.size(), 4U);
  EXPECT_EQ(read[0].seconds, std::chrono::seconds(30));
  EXPECT_EQ(read[1].seconds, std::chrono::seconds(0));
  EXPECT_EQ(read[2].seconds, std::chrono::seconds(0));
  EXPECT_FALSE(read[3].seconds);
}

}  // namespace
}  // namespace plim::kube
