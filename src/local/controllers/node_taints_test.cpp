#include "local/controllers/node_taints.hpp"

#include <gtest/gtest.h>

#include "local/controllers/testing/sample_objects.hpp"

namespace plim::local::controllers {
namespace {

const WallTime kNoticed = testing::at("2026-01-01T12:00:00Z");

json::value node_that_is(std::string_view ready, std::string_view spec = "{}") {
  return {
      {"spec", *parse_json(spec)},
      {"status",
       {{"conditions", json::array{json::value{{"type", "Ready"},
                                               {"status", ready},
                                               {"lastTransitionTime", "2026-01-01T00:00:00Z"}}}}}}};
}

std::string taints(const json::value& object) {
  auto list = taints_by_conditions(object, kNoticed);
  kube::InternPool pool;
  std::string text = to_json(object);
  auto light = kube::decode_node(kube::JsonText(text), pool);
  EXPECT_TRUE(light && has_right_taints(*light) != list.has_value());
  return list ? to_json(*list) : "unchanged";
}

TEST(NodeTaints, follow_the_ready_condition) {
  EXPECT_EQ(taints(node_that_is("True")), "unchanged");
  EXPECT_EQ(taints(node_that_is("False")),
            R"([{"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"},)"
            R"({"key":"node.kubernetes.io/not-ready","effect":"NoExecute",)"
            R"("timeAdded":"2026-01-01T12:00:00Z"}])");
  EXPECT_EQ(taints(node_that_is("Unknown")),
            R"([{"key":"node.kubernetes.io/unreachable","effect":"NoSchedule"},)"
            R"({"key":"node.kubernetes.io/unreachable","effect":"NoExecute",)"
            R"("timeAdded":"2026-01-01T12:00:00Z"}])");
}

TEST(NodeTaints, are_removed_again_without_touching_those_of_others) {
  EXPECT_EQ(taints(node_that_is("True", R"({"taints":[
      {"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"},
      {"key":"own","effect":"NoSchedule"}]})")),
            R"([{"key":"own","effect":"NoSchedule"}])");
}

TEST(NodeTaints, a_node_that_has_not_reported_yet_is_not_ready) {
  EXPECT_EQ(taints({{"spec", json::object()}}),
            R"([{"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"}])");
  EXPECT_EQ(taints(json::parse(R"({"spec":{"taints":[
      {"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"}]}})")),
            "unchanged");
}

TEST(NodeTaints, a_cordoned_node_is_tainted) {
  EXPECT_EQ(taints(node_that_is("True", R"({"unschedulable":true})")),
            R"([{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"}])");
}

TEST(NodeTaints, conditions_of_a_silent_node_become_unknown_once) {
  auto conditions = silent_conditions(node_that_is("True"), kNoticed);
  ASSERT_TRUE(conditions);
  ASSERT_EQ(conditions->size(), 4u);
  EXPECT_EQ(text_at(conditions->at(0), {"reason"}), "NodeStatusNeverUpdated");
  EXPECT_EQ(text_at(conditions->at(3), {"reason"}), "NodeStatusUnknown");
  EXPECT_FALSE(silent_conditions({{"status", {{"conditions", *conditions}}}}, kNoticed));
}

TEST(Tolerations, decide_how_long_a_pod_stays) {
  kube::InternPool pool;
  const std::vector<kube::Taint> taints{
      {pool("node.kubernetes.io/unreachable"), {}, pool("NoSchedule")},
      {pool("node.kubernetes.io/unreachable"), {}, pool("NoExecute")}};
  auto with = [](std::string_view tolerations) {
    return testing::pod_from({{"spec", {{"tolerations", *parse_json(tolerations)}}}});
  };
  EXPECT_EQ(stays_for(*with("[]"), taints), std::chrono::seconds(0));
  EXPECT_EQ(stays_for(*with(R"([{"operator":"Exists"}])"), taints), std::nullopt);
  EXPECT_EQ(stays_for(*with(R"([{"key":"node.kubernetes.io/unreachable","operator":"Exists",
                                 "effect":"NoExecute","tolerationSeconds":300}])"),
                      taints),
            std::chrono::seconds(300));
  EXPECT_EQ(stays_for(*with("[]"), {taints[0]}), std::nullopt);
}

}  // namespace
}  // namespace plim::local::controllers
