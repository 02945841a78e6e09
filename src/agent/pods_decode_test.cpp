#include <gtest/gtest.h>

#include "agent/pods.hpp"

namespace plim::agent {
namespace {

PodsAnswer decode(std::string items) {
  std::string body = R"({"kind":"PodList","items":[)" + std::move(items) + "]}";
  auto out = decode_pod_list(body);
  EXPECT_TRUE(out) << (out ? "" : out.error().message);
  return out ? std::move(*out) : PodsAnswer{};
}

constexpr const char* kMeta = R"("metadata":{"uid":"u-1","name":"p","namespace":"n"})";

std::map<std::string, double> resources(const std::string& spec) {
  auto answer = decode(std::string("{") + kMeta + R"(,"spec":)" + spec + "}");
  return answer.pods.empty() ? std::map<std::string, double>{} : answer.pods[0].resources;
}

TEST(Amounts, are_those_of_kubernetes) {
  const std::map<std::string, double> known{
      {"250m", 0.25}, {"0.5", 0.5},      {"64Mi", 67108864}, {"1.5Gi", 1610612736},
      {"1G", 1e9},    {"128e6", 1.28e8}, {"2E", 2e18},       {"100m", 0.1},
      {"1k", 1000},   {"3K", 3000},      {"1E3", 1000},      {"-1", -1}};
  for (const auto& [text, value] : known) {
    auto amount = amount_of(text);
    ASSERT_TRUE(amount) << text;
    EXPECT_DOUBLE_EQ(*amount, value) << text;
  }
  for (const char* odd : {"", "K", "12parsecs", "1 Mi", "0x3"}) EXPECT_FALSE(amount_of(odd)) << odd;
}

TEST(PodResources, a_resource_without_requests_is_absent) {
  EXPECT_TRUE(resources(R"({"containers":[{"name":"c"}]})").empty());
}

TEST(PodResources, sidecars_count_and_plain_init_containers_do_not) {
  auto found = resources(R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}],
    "initContainers":[{"resources":{"requests":{"cpu":"5"}}},
      {"restartPolicy":"Always","resources":{"requests":{"cpu":"500m"}}},
      {"resources":{"requests":{"cpu":"5"}}}]})");
  EXPECT_DOUBLE_EQ(found["cpus"], 1.5);
  EXPECT_DOUBLE_EQ(found["requests_cpu"], 1.5);
  EXPECT_DOUBLE_EQ(found["effective_cpus"], 5.5);  // the last one runs together with the sidecar
}

TEST(PodResources, requests_of_the_pod_replace_the_sum) {
  auto found = resources(R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}],
    "resources":{"requests":{"cpu":"3"}},"overhead":{"cpu":"250m"}})");
  EXPECT_DOUBLE_EQ(found["cpus"], 1);
  EXPECT_DOUBLE_EQ(found["effective_cpus"], 3.25);
}

TEST(PodList, skips_a_bad_pod) {
  auto answer = decode(std::string(R"({"metadata":{"name":"x"}},{"spec":7},{)") + kMeta + "}");
  ASSERT_EQ(answer.pods.size(), 1U);
  EXPECT_EQ(answer.pods[0].name, "p");
  EXPECT_EQ(answer.mistakes.size(), 2U);
}

TEST(PodList, a_body_that_is_not_a_list_is_an_error) {
  for (std::string body : {"", "{}", "[]", "<html>", R"({"items":[{)", R"({"kind":"Status"})"})
    EXPECT_FALSE(decode_pod_list(body)) << body;
}

TEST(PodList, static_pods_have_more_names) {
  auto answer = decode(R"({"metadata":{"uid":"a-b","name":"p","namespace":"n","annotations":
    {"kubernetes.io/config.hash":"c-d"}}})");
  ASSERT_EQ(answer.pods.size(), 1U);
  EXPECT_EQ(answer.pods[0].uid_candidates, (std::vector<std::string>{"a-b", "c-d", "ab", "cd"}));
}

TEST(PodList, names_that_would_leave_the_tree_are_not_candidates) {
  auto answer = decode(R"({"metadata":{"uid":"../../x","name":"p","namespace":"n"},"status":
    {"containerStatuses":[{"name":"c","state":{"running":{}},"containerID":"x://.."}]}})");
  ASSERT_EQ(answer.pods.size(), 1U);
  EXPECT_TRUE(answer.pods[0].uid_candidates.empty());
  EXPECT_TRUE(answer.pods[0].containers.empty());
}

TEST(PodList, running_init_containers_count_only_if_they_are_sidecars) {
  auto answer = decode(std::string("{") + kMeta + R"(,"spec":{"initContainers":[
    {"name":"side","restartPolicy":"Always"},{"name":"init"}]},"status":{"initContainerStatuses":[
    {"name":"side","state":{"running":{}},"containerID":"x://s"},
    {"name":"init","state":{"running":{}},"containerID":"x://i"}]}})");
  ASSERT_EQ(answer.pods.size(), 1U);
  ASSERT_EQ(answer.pods[0].containers.size(), 1U);
  EXPECT_EQ(answer.pods[0].containers[0].id, "s");
}

TEST(PodList, follows_a_resize_in_place) {
  const auto pod = [](const std::string& cpu) {
    auto answer = decode(std::string("{") + kMeta + R"(,"spec":{"containers":[{"name":"c",
        "resources":{"requests":{"cpu":")" +
                         cpu + R"("},"limits":{"cpu":")" + cpu + R"("}}}]},
        "status":{"qosClass":"Guaranteed","containerStatuses":[{"name":"c","containerID":
        "containerd://a","state":{"running":{}}}]}})");
    return answer.pods.at(0);
  };
  const PodFacts before = pod("1"), after = pod("2500m");
  EXPECT_DOUBLE_EQ(after.resources.at("limits_cpu"), 2.5);
  EXPECT_DOUBLE_EQ(after.resources.at("requests_cpu"), 2.5);
  EXPECT_EQ(before.containers[0].id, after.containers[0].id) << "it is the same task";
  EXPECT_EQ(before.uid, after.uid);
  EXPECT_EQ(after.qos, node::Qos::guaranteed);
}

TEST(PodList, qos_is_derived_when_it_is_missing) {
  const auto qos = [](const std::string& resources) {
    auto answer = decode(std::string("{") + kMeta + R"(,"spec":{"containers":[{"resources":)" +
                         resources + "}]}}");
    return answer.pods.at(0).qos;
  };
  EXPECT_EQ(qos("{}"), node::Qos::best_effort);
  EXPECT_EQ(qos(R"({"requests":{"cpu":"1"}})"), node::Qos::burstable);
  EXPECT_EQ(qos(R"({"limits":{"cpu":"1","memory":"1"}})"), node::Qos::guaranteed);
}

}  // namespace
}  // namespace plim::agent
