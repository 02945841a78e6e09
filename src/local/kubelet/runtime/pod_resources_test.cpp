#include "local/kubelet/runtime/pod_resources.hpp"

#include <gtest/gtest.h>

#include "base/json.hpp"

namespace plim::local::kubelet {
namespace {

json::value resources_json(std::string_view text) {
  return *parse_json(text);
}

const json::value kPod = resources_json(R"({"spec":{
    "initContainers":[{"name":"i"}],
    "containers":[{"name":"c","resources":{"limits":{"memory":"2Gi"},
                                           "requests":{"cpu":"1","memory":"1Gi"}}}]}})");

TEST(PodResources, can_be_taken_and_put_back) {
  const json::object taken = resources_of(kPod);
  EXPECT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken.at("i"), json::value(json::object()));
  json::object other = taken;
  other["c"] = resources_json(R"({"requests":{"cpu":"2"}})");
  const json::value resized = with_resources(kPod, other);
  EXPECT_EQ(resources_of(resized), other);
  EXPECT_EQ(resources_of(with_resources(resized, taken)), taken);
  EXPECT_EQ(with_resources(kPod, {}), kPod);
}

TEST(PodResources, larger_ones_have_room_for_both) {
  const auto of = [](std::string_view text) { return json::object{{"c", resources_json(text)}}; };
  const json::object larger =
      larger_resources(of(R"({"limits":{"cpu":"500m","memory":"2Gi"},"requests":{"cpu":"100m"}})"),
                       of(R"({"limits":{"cpu":"2"},"requests":{"cpu":"50m","memory":"1Gi"}})"));
  EXPECT_EQ(larger.at("c"),
            resources_json(R"({"limits":{"cpu":"2"},"requests":{"cpu":"100m","memory":"1Gi"}})"))
      << "without a limit there is room for everything";
}

TEST(PodResources, policies_say_which_changes_need_a_restart) {
  const json::value container = resources_json(R"({"resizePolicy":[
      {"resourceName":"memory","restartPolicy":"RestartContainer"},
      {"resourceName":"cpu","restartPolicy":"NotRequired"}]})");
  const json::value small = resources_json(R"({"limits":{"cpu":"1","memory":"1Gi"}})");
  EXPECT_FALSE(needs_restart(container, small, small));
  EXPECT_FALSE(
      needs_restart(container, small, resources_json(R"({"limits":{"cpu":"2","memory":"1Gi"}})")));
  EXPECT_TRUE(
      needs_restart(container, small, resources_json(R"({"limits":{"cpu":"1","memory":"2Gi"}})")));
  EXPECT_FALSE(needs_restart(resources_json("{}"), small, resources_json("{}")));
}

TEST(PodResources, know_what_becomes_free) {
  const auto with = [](std::string_view text) {
    return with_resources(kPod, {{"c", resources_json(text)}});
  };
  EXPECT_TRUE(frees_resources(kPod, with(R"({"requests":{"cpu":"500m","memory":"4Gi"}})")));
  EXPECT_FALSE(frees_resources(kPod, with(R"({"requests":{"cpu":"1","memory":"4Gi"}})")));
}

TEST(PodResources, messages_of_events_list_them) {
  EXPECT_EQ(resize_message("Pod resize started", kPod, 3),
            R"(Pod resize started: {"initContainers":[{"name":"i","resources":{}}],)"
            R"("containers":[{"name":"c","resources":{"limits":{"memory":"2Gi"},)"
            R"("requests":{"cpu":"1","memory":"1Gi"}}}],"generation":3})");
  EXPECT_TRUE(resize_message("x", kPod, 3, "why").ends_with(R"("generation":3,"error":"why"})"));
}

}  // namespace
}  // namespace plim::local::kubelet
