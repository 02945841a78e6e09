#include "local/kubelet/runtime/pod_admission.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "local/apiserver/testing/api_fixture.hpp"

namespace plim::local::kubelet {
namespace {

const char* kNode = R"({"metadata":{"name":"n1","labels":{"zone":"a","cores":"8"}},
    "status":{"allocatable":{"cpu":"2","memory":"1Gi","pods":"2"}}})";

json::value asking(std::string_view requests) {
  return apiserver::testing::parsed(
      fmt::format(R"({{"spec":{{"containers":[{{"resources":{{"requests":{}}}}}]}}}})", requests));
}

std::string reason(const json::value& pod, const std::vector<json::value>& others = {}) {
  const auto refused = refuse_pod(pod, apiserver::testing::parsed(kNode), others);
  return refused ? refused->reason : "";
}

TEST(Admission, counts_resources) {
  EXPECT_EQ(reason(asking(R"({"cpu":"2"})")), "");
  EXPECT_EQ(reason(asking(R"({"cpu":"2001m"})")), "OutOfcpu");
  EXPECT_EQ(reason(asking(R"({"memory":"2Gi"})")), "OutOfmemory");
  EXPECT_EQ(reason(asking(R"({"example.com/gpu":"7"})")), "");
  EXPECT_EQ(reason(asking(R"({"cpu":"1500m"})"), {asking(R"({"cpu":"1"})")}), "OutOfcpu");
  EXPECT_EQ(reason(asking("{}"), {asking("{}"), asking("{}")}), "OutOfpods");
  const auto refused = refuse_pod(asking(R"({"cpu":"1500m"})"), apiserver::testing::parsed(kNode),
                                  {asking(R"({"cpu":"1"})")});
  EXPECT_EQ(refused->message,
            "Node didn't have enough resource: cpu, requested: 1500, used: 1000, capacity: 2000");
}

TEST(Admission, counts_a_limit_only_where_no_request_is_made) {
  const auto limited = [](std::string_view requests) {
    return apiserver::testing::parsed(fmt::format(
        R"({{"spec":{{"containers":[{{"resources":{{"limits":{{"cpu":"3"}},"requests":{}}}}}]}}}})",
        requests));
  };
  EXPECT_EQ(reason(limited("{}")), "OutOfcpu");
  EXPECT_EQ(reason(limited(R"({"cpu":"1"})")), "");
  EXPECT_EQ(reason(limited(R"({"cpu":"0"})")), "");
}

TEST(Admission, looks_at_labels) {
  struct Row {
    const char *spec, *want;
  };

  const std::vector<Row> rows{
      {R"("nodeSelector":{"zone":"a"})", ""},
      {R"("nodeSelector":{"zone":"b"})", "NodeAffinity"},
      {R"({"key":"zone","operator":"In","values":["b","a"]})", ""},
      {R"({"key":"zone","operator":"NotIn","values":["a"]})", "NodeAffinity"},
      {R"({"key":"cores","operator":"Gt","values":["4"]})", ""},
      {R"({"key":"cores","operator":"Lt","values":["4"]})", "NodeAffinity"},
      {R"({"key":"gpu","operator":"Exists"})", "NodeAffinity"},
      {R"({"key":"gpu","operator":"DoesNotExist"})", ""},
  };
  for (const Row& row : rows) {
    const std::string_view text = row.spec;
    const std::string spec =
        text.starts_with("{")
            ? fmt::format(
                  R"("affinity":{{"nodeAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":
                  {{"nodeSelectorTerms":[{{"matchExpressions":[{}]}}]}}}}}})",
                  text)
            : std::string(text);
    EXPECT_EQ(reason(apiserver::testing::parsed(fmt::format(R"({{"spec":{{{}}}}})", spec))),
              row.want)
        << row.spec;
  }
}

TEST(Admission, gives_each_host_port_once) {
  const json::value pod = apiserver::testing::parsed(
      R"({"spec":{"containers":[{"ports":[{"hostPort":80,"containerPort":80}]}]}})");
  const json::value other = apiserver::testing::parsed(
      R"({"spec":{"containers":[{"ports":[{"hostPort":80,"protocol":"UDP"}]}]}})");
  EXPECT_EQ(reason(pod, {pod}), "NodePorts");
  EXPECT_EQ(reason(pod, {other}), "");
}

}  // namespace
}  // namespace plim::local::kubelet
