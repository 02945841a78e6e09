#include "placement/single_node.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/testing/objects.hpp"

namespace plim::placement {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::node_of;
using testing::plain_node;
using testing::plain_pod;
using testing::pod_of;

TEST(NodeDemands, compare_names_labels_and_taints) {
  const NodeDemands any(*pod_of("{metadata: {name: p}, spec: {}}"));
  const NodeDemands picky(
      *pod_of("{metadata: {name: p}, spec: {nodeName: a, nodeSelector: {disk: ssd}, "
              "tolerations: [{key: old, operator: Exists, effect: NoSchedule}]}}"));
  const kube::Node a = node_of(
      "{metadata: {name: a, labels: {disk: ssd}}, spec: {taints: [{key: old, effect: NoSchedule}, "
      "{key: sick, effect: NoExecute}]}}");
  const kube::Node b = node_of("{metadata: {name: b, labels: {disk: hdd}}}");
  EXPECT_TRUE(any.accept_name(b));
  EXPECT_TRUE(any.accept_labels(b));
  EXPECT_FALSE(any.tolerate(a, "NoSchedule"));
  EXPECT_TRUE(picky.accept_name(a));
  EXPECT_TRUE(picky.accept_labels(a));
  EXPECT_TRUE(picky.tolerate(a, "NoSchedule"));
  EXPECT_FALSE(picky.tolerate(a, "NoExecute"));
  EXPECT_FALSE(picky.accept_name(b));
  EXPECT_FALSE(picky.accept_labels(b));
}

TEST(NodeDemands, include_required_node_affinity) {
  const NodeDemands demands(*pod_of(R"({metadata: {name: p}, spec: {affinity: {nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
      {matchExpressions: [{key: cores, operator: Gt, values: ["4"]}]},
      {matchFields: [{key: metadata.name, operator: In, values: [b]}]}]}}}}})"));
  EXPECT_TRUE(demands.accept_labels(node_of("{metadata: {name: a, labels: {cores: '8'}}}")));
  EXPECT_FALSE(demands.accept_labels(node_of("{metadata: {name: a, labels: {cores: '4'}}}")));
  EXPECT_TRUE(demands.accept_labels(node_of("{metadata: {name: b}}")));
}

TEST(SingleNode, finds_every_resource_that_is_short) {
  const kube::Node node = node_of(
      "{metadata: {name: a}, status: {allocatable: {cpu: 2, memory: 1Ki, pods: 1, "
      "example.com/gpu: 1}}}");
  const std::vector<kube::Pod> there{*plain_pod("x", "{cpu: 1500m, example.com/gpu: 1}")};
  EXPECT_THAT(
      find_shortages(*plain_pod("p", "{cpu: 1, memory: 1Ki, example.com/gpu: 1}"), node, there),
      ElementsAre(Shortage{"pods", 1, 1, 1}, Shortage{"cpu", 1000, 1500, 2000},
                  Shortage{"example.com/gpu", 1, 1, 1}));
  EXPECT_THAT(find_shortages(*plain_pod("p", "{cpu: 2, memory: 1Ki}"), node, {}), IsEmpty());
  EXPECT_THAT(find_shortages(*plain_pod("p", "{memory: 1025}"), node, {}),
              ElementsAre(Shortage{"memory", 1025, 0, 1024}));
}

TEST(SingleNode, gives_each_host_port_once) {
  const auto with_port = [](std::string_view port) {
    return *pod_of(fmt::format(
        "{{metadata: {{name: p}}, spec: {{containers: [{{name: c, ports: [{}]}}]}}}}", port));
  };
  const std::vector<kube::Pod> there{with_port("{hostPort: 80}")};
  EXPECT_FALSE(host_ports_are_free(with_port("{hostPort: 80}"), there));
  EXPECT_TRUE(host_ports_are_free(with_port("{hostPort: 80, protocol: UDP}"), there));
  EXPECT_TRUE(host_ports_are_free(*plain_pod("p"), there));
}

}  // namespace
}  // namespace plim::placement
