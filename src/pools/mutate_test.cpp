// Tests of pods after the webhook has changed them.
#include "pools/mutate.hpp"

#include <gtest/gtest.h>

#include "pools/testing/admission_pods.hpp"

namespace plim::pools {
namespace {

using testing::admit;
using testing::admitted;
using testing::container_of;
using testing::creation_of;
using testing::parsed;
using testing::pod_of;
using testing::sample_catalog;

constexpr std::string_view kTwoShared = R"([{"container":"a","processes":[
    {"process":"/bin/one","args":["x"],"pool":"sharedpool","cpus":150},
    {"process":"/bin/two","args":[],"pool":"sharedpool","cpus":10}]}])";
constexpr std::string_view kShared160 =
    R"({"containers":[{"name":"a","args":["old"],
        "resources":{"limits":{"nokia.k8s.io/sharedpool":"160"},
                     "requests":{"nokia.k8s.io/sharedpool":"160"}}}]})";
constexpr std::string_view kExclusive2 =
    R"({"containers":[{"name":"a","command":["run"],
        "resources":{"limits":{"nokia.k8s.io/cpupool1":"2"}}}]})";

std::string_view cpu_limit(const json::value& pod) {
  return text_at(container_of(pod), {"resources", "limits", "cpu"});
}

TEST(MutatePod, pins_an_annotated_shared_container) {
  const json::value after = admitted(pod_of(kShared160, kTwoShared));
  EXPECT_EQ(container_of(after), parsed(R"({"name":"a","args":["old"],
      "command":["/opt/bin/process-starter"],
      "resources":{"limits":{"nokia.k8s.io/sharedpool":"160","cpu":"160m"},
                   "requests":{"nokia.k8s.io/sharedpool":"160","cpu":"0m"}},
      "env":[{"name":"CONTAINER_NAME","value":"a"},{"name":"CPU_POOLS","value":"shared"}],
      "volumeMounts":[{"name":"podinfo","mountPath":"/etc/podinfo","readOnly":true},
        {"name":"hostbin","mountPath":"/opt/bin/process-starter","readOnly":true}]})"));
  EXPECT_EQ(after.at("spec").at("volumes"), parsed(R"([
      {"name":"podinfo","downwardAPI":{"items":[
        {"path":"annotations","fieldRef":{"fieldPath":"metadata.annotations"}}]}},
      {"name":"hostbin","hostPath":{"path":"/opt/bin/process-starter","type":"File"}}])"));
}

TEST(MutatePod, wraps_the_command_of_an_exclusive_container) {
  const json::value after = admitted(pod_of(R"({"containers":[{"name":"a",
      "command":["/bin/bash","-c","--"],"args":["while true; do sleep 1; done"],
      "resources":{"limits":{"nokia.k8s.io/cpupool1":"4","nokia.k8s.io/sharedpool":"200"}}}]})"));
  EXPECT_EQ(container_of(after).at("command"), parsed(R"(["/opt/bin/process-starter"])"));
  EXPECT_EQ(container_of(after).at("args"),
            parsed(R"(["/bin/bash","-c","--","while true; do sleep 1; done"])"));
  EXPECT_EQ(cpu_limit(after), "7000m");  // 4 and all of the shared pool's 3
  EXPECT_EQ(container_of(after).at("env").at(1).at("value"), "exclusive&shared");
}

TEST(MutatePod, keeps_every_string_of_a_command) {
  const json::value words =
      json::array{"say \"hi\"", "back\\slash", "two\nlines", "grün 船", "\t\x01"};
  json::value pod = pod_of(kExclusive2);
  pod.at("spec").at("containers").at(0).get_object()["command"] = words;
  EXPECT_EQ(container_of(admitted(pod)).at("args"), words);
}

TEST(MutatePod, creates_missing_lists_before_it_appends) {
  const json::value after = admitted(pod_of(kExclusive2));
  EXPECT_EQ(container_of(after).at("env").get_array().size(), 2u);
  EXPECT_EQ(text_at(container_of(after), {"resources", "requests", "cpu"}), "0m");
  // A null counts as missing, an empty list does not.
  const json::value odd = admitted(pod_of(R"({"volumes":null,"containers":[{"name":"a",
      "command":["run"],"args":null,"env":[],"volumeMounts":null,
      "resources":{"requests":null,"limits":{"nokia.k8s.io/cpupool1":"2"}}}]})"));
  EXPECT_EQ(container_of(odd).at("env").get_array().size(), 2u);
  EXPECT_EQ(container_of(odd).at("volumeMounts").get_array().size(), 2u);
}

TEST(MutatePod, appends_to_existing_lists) {
  const json::value after = admitted(pod_of(R"({"volumes":[{"name":"data","emptyDir":{}}],
      "containers":[{"name":"other"},{"name":"a","command":["run"],
      "env":[{"name":"CPU_POOLS","value":"mine"},{"name":"X","value":"1"}],
      "volumeMounts":[{"name":"data","mountPath":"/data"}],
      "resources":{"limits":{"nokia.k8s.io/cpupool1":"2"}}}]})"));
  EXPECT_EQ(container_of(after, 0), parsed(R"({"name":"other"})"));
  EXPECT_EQ(container_of(after, 1).at("env"), parsed(R"([{"name":"CPU_POOLS","value":"exclusive"},
      {"name":"X","value":"1"},{"name":"CONTAINER_NAME","value":"a"}])"));
  EXPECT_EQ(container_of(after, 1).at("volumeMounts").get_array().size(), 3u);
  EXPECT_EQ(after.at("spec").at("volumes").get_array().size(), 3u);
}

TEST(MutatePod, pins_init_containers_that_ask_for_pools) {
  const json::value after = admitted(pod_of(R"({"containers":[{"name":"a"}],
      "initContainers":[{"name":"i","command":["run"],
        "resources":{"limits":{"nokia.k8s.io/cpupool1":"1"}}}]})"));
  EXPECT_EQ(container_of(after, 0, "initContainers").at("args"), parsed(R"(["run"])"));
  EXPECT_EQ(container_of(after, 0), parsed(R"({"name":"a"})"));
}

TEST(MutatePod, leaves_shared_containers_without_annotation_unpinned) {
  const json::value after = admitted(pod_of(R"({"containers":[{"name":"a","command":["run"],
      "resources":{"limits":{"nokia.k8s.io/sharedpool":"1k"}}}]})"));
  EXPECT_EQ(container_of(after).at("command"), parsed(R"(["run"])"));
  EXPECT_EQ(container_of(after).at("env"), parsed(R"([{"name":"CPU_POOLS","value":"shared"}])"));
  EXPECT_EQ(cpu_limit(after), "1000m");
  EXPECT_EQ(find(after, {"spec", "volumes"}), nullptr);
}

TEST(MutatePod, warns_when_there_is_no_command_to_pin) {
  const auto answer = admit(pod_of(
      R"({"containers":[{"name":"a","resources":{"limits":{"nokia.k8s.io/cpupool1":"2"}}}]})"));
  EXPECT_TRUE(answer.allowed);
  ASSERT_EQ(answer.warnings.size(), 1u);
  EXPECT_TRUE(answer.warnings[0].starts_with("NoCommand: container \"a\""));
}

TEST(MutatePod, sets_quotas_by_the_option) {
  const auto limit_of = [](std::string_view limits, CfsQuotas quotas) {
    MutateOptions options{.cfs_quotas = quotas, .smt_width = 4};
    const std::string spec =
        R"({"containers":[{"name":"a","command":["run"],"resources":{"limits":)" +
        std::string(limits) + "}}]}";
    return std::string(cpu_limit(admitted(pod_of(spec), options)));
  };
  constexpr std::string_view kExclusive = R"({"nokia.k8s.io/cpupool1":"2"})";
  constexpr std::string_view kCores = R"({"nokia.k8s.io/exclusive-cores":"2"})";
  constexpr std::string_view kShared =
      R"({"nokia.k8s.io/sharedpool":"70","nokia.k8s.io/shared-two":"5"})";
  constexpr std::string_view kBoth =
      R"({"nokia.k8s.io/cpupool1":"2","nokia.k8s.io/shared-two":"5"})";
  constexpr std::string_view kUnread =
      R"({"nokia.k8s.io/cpupool1":"2","nokia.k8s.io/shared-x":"5"})";
  EXPECT_EQ(limit_of(kExclusive, CfsQuotas::all), "2100m");
  EXPECT_EQ(limit_of(kCores, CfsQuotas::all), "8100m");
  EXPECT_EQ(limit_of(kShared, CfsQuotas::all), "75m");
  EXPECT_EQ(limit_of(kBoth, CfsQuotas::all), "4000m");
  EXPECT_EQ(limit_of(kUnread, CfsQuotas::all), "2005m");
  EXPECT_EQ(limit_of(kShared, CfsQuotas::shared), "75m");
  EXPECT_EQ(limit_of(kExclusive, CfsQuotas::shared), "");
  EXPECT_EQ(limit_of(kBoth, CfsQuotas::shared), "");
  EXPECT_EQ(limit_of(kShared, CfsQuotas::none), "");
}

TEST(MutatePod, leaves_the_quota_of_a_pod_that_wants_none) {
  json::value pod = pod_of(
      R"({"containers":[{"name":"a","resources":{"limits":{"nokia.k8s.io/sharedpool":"150"}}}]})");
  const auto wish = [&](std::string_view option, std::string_view value) {
    make_object(pod, {"metadata", "annotations"}) = json::object{{option, value}};
  };
  wish("plimsoll.io/cfs-quota", "none");
  EXPECT_EQ(find(container_of(admitted(pod)), {"resources", "limits", "cpu"}), nullptr);
  wish("plimsoll.io/cfs-quota", "some");
  EXPECT_EQ(text_at(container_of(admitted(pod)), {"resources", "limits", "cpu"}), "150m");
  EXPECT_EQ(admit(pod).warnings,
            std::vector<std::string>{"plimsoll.io/cfs-quota: the only valid value is none"});
  wish("plimsoll.io/smt", "multi");
  EXPECT_EQ(admit(pod).warnings,
            std::vector<std::string>{"plimsoll.io/smt has no effect in this version"});
  wish("plimsoll.io/numa", "single");
  EXPECT_EQ(admit(pod).warnings,
            std::vector<std::string>{"plimsoll.io/numa has no effect in this version"});
}

TEST(MutatePod, keeps_a_lower_limit_and_raises_no_request) {
  const json::value pod = pod_of(R"({"containers":[{"name":"a","command":["run"],
      "resources":{"limits":{"nokia.k8s.io/cpupool1":"2","cpu":"500m"},"requests":{"cpu":"500m"}}}]})");
  const auto answer = admit(pod);
  ASSERT_EQ(answer.warnings.size(), 1u);
  EXPECT_TRUE(answer.warnings[0].starts_with("RES004: container \"a\""));
  EXPECT_EQ(cpu_limit(admitted(pod)), "500m");
  EXPECT_EQ(text_at(container_of(admitted(pod)), {"resources", "requests", "cpu"}), "0m");
}

TEST(MutatePod, does_not_mount_the_starter_if_the_device_plugin_does) {
  const MutateOptions options{.delivery = StarterDelivery::plugin};
  const json::value after = admitted(pod_of(kExclusive2), options);
  EXPECT_EQ(container_of(after).at("volumeMounts").get_array().size(), 1u);
  EXPECT_EQ(after.at("spec").at("volumes").get_array().size(), 1u);
  EXPECT_EQ(container_of(after).at("command"), parsed(R"(["/opt/bin/process-starter"])"));
}

TEST(MutatePod, recognizes_its_changes_after_the_api_server_set_defaults) {
  json::value after = admitted(pod_of(kExclusive2));
  json::object& downward = after.at("spec").at("volumes").at(0).at("downwardAPI").get_object();
  downward["defaultMode"] = 420;
  downward.at("items").at(0).at("fieldRef").get_object()["apiVersion"] = "v1";
  json::object& resources = after.at("spec").at("containers").at(0).at("resources").get_object();
  resources.at("requests").get_object()["cpu"] = "0";
  resources.at("limits").get_object()["cpu"] = "2.1";
  EXPECT_TRUE(admit(after).patch.empty()) << to_json(admit(after).patch);
}

TEST(MutatePod, passes_another_base_name_to_the_starter) {
  PoolCatalog pools = sample_catalog();
  pools.base_name = "example.com";
  const json::value pod = pod_of(R"({"containers":[{"name":"a","command":["run"],
      "resources":{"limits":{"example.com/cpupool1":"2","nokia.k8s.io/cpupool1":"9.5"}}}]})");
  const auto answer = mutate_pod(creation_of(pod), pools, {});
  ASSERT_TRUE(answer.allowed) << answer.message;
  const auto after = local::apiserver::apply_json_patch(pod, answer.patch);
  ASSERT_TRUE(after);
  EXPECT_EQ(container_of(*after).at("env").at(1),
            parsed(R"({"name":"PLIMSOLL_BASE_NAME","value":"example.com"})"));
}

TEST(MutatePod, ignores_pods_without_pools) {
  for (const char* operation : {"UPDATE", "DELETE", "CONNECT", ""}) {
    auto review = creation_of(pod_of(kShared160, "nonsense"));
    review.operation = operation;
    review.old_object = review.object;
    const auto answer = mutate_pod(review, sample_catalog(), {});
    EXPECT_TRUE(answer.allowed && answer.patch.empty()) << operation;
  }
  auto review = creation_of(pod_of(kShared160, "nonsense"));
  review.subresource = "status";
  EXPECT_TRUE(mutate_pod(review, sample_catalog(), {}).allowed);
  review.subresource = "";
  review.group = "apps";
  review.resource = "deployments";
  EXPECT_TRUE(mutate_pod(review, sample_catalog(), {}).allowed);
}

}  // namespace
}  // namespace plim::pools
