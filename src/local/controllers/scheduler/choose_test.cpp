#include "local/controllers/scheduler/choose.hpp"

#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.hpp"
#include "base/yaml.hpp"
#include "kube/decode.hpp"

namespace plim::local::controllers::scheduler {
namespace {

using ::testing::AnyOf;

kube::InternPool& pool() {
  static kube::InternPool it;
  return it;
}

std::string json_of(std::string_view yaml) {
  auto value = parse_yaml(yaml);
  PLIM_ASSERT(value);
  return to_json(*value);
}

std::shared_ptr<const kube::Pod> pod_of(std::string_view name, std::string_view spec = "{}",
                                        std::string_view labels = "{}") {
  static int uid = 0;
  std::string text = json_of(
      fmt::format("{{metadata: {{name: {}, namespace: default, uid: u{}, labels: {}}}, spec: {}}}",
                  name, ++uid, labels, spec));
  auto pod = kube::decode_pod(kube::JsonText(text), pool());
  PLIM_ASSERT(pod);
  return std::make_shared<const kube::Pod>(std::move(*pod));
}

// Nodes by name, with pods on them.
class Cluster {
 public:
  void add(std::string_view name, std::string_view spec = "{}", std::string_view labels = "{}",
           std::string_view more = "") {
    std::string text = json_of(fmt::format(
        "{{metadata: {{name: {0}, labels: {2}}}, spec: {1}, status: {{allocatable: {{cpu: '2', "
        "memory: 4Gi, pods: '5'{3}}}}}}}",
        name, spec, labels, more));
    auto node = kube::decode_node(kube::JsonText(text), pool());
    PLIM_ASSERT(node);
    auto shared = std::make_shared<const kube::Node>(std::move(*node));
    states_.emplace(name, std::make_unique<NodeState>(shared));
  }

  NodeState& at(std::string_view name) { return *states_.find(name)->second; }

  void put(std::string_view node, std::shared_ptr<const kube::Pod> pod) {
    at(node).add(std::make_shared<const PlacedPod>(std::move(pod)));
  }

  Choice choose(const std::shared_ptr<const kube::Pod>& pod, std::size_t first = 0) const {
    std::vector<const NodeState*> nodes;
    for (const auto& [name, state] : states_) nodes.push_back(state.get());
    return choose_node(*pod, nodes, first);
  }

  std::string why_not(const std::shared_ptr<const kube::Pod>& pod) const {
    return choose(pod).why_not;
  }

 private:
  std::map<std::string, std::unique_ptr<NodeState>, std::less<>> states_;
};

std::string asks(std::string_view requests) {
  return fmt::format("{{containers: [{{name: c, resources: {{requests: {}}}}}]}}", requests);
}

TEST(ChooseNode, says_that_there_are_no_nodes) {
  EXPECT_EQ(Cluster().why_not(pod_of("p")), "no nodes available to schedule pods");
}

TEST(ChooseNode, takes_the_emptier_node) {
  Cluster cluster;
  cluster.add("n1");
  cluster.add("n2");
  cluster.put("n1", pod_of("a", asks("{cpu: '1'}")));
  EXPECT_EQ(cluster.choose(pod_of("p", asks("{cpu: 100m}"))).node, "n2");
  EXPECT_EQ(cluster.choose(pod_of("p")).node, "n2");
}

TEST(ChooseNode, counts_every_resource_and_says_which_is_short) {
  Cluster cluster;
  cluster.add("n1");
  cluster.add("n2", "{}", "{}", ", example.com/gpu: '1'");
  EXPECT_EQ(cluster.why_not(pod_of("p", asks("{cpu: '3', memory: 5Gi}"))),
            "0/2 nodes are available: 2 Insufficient cpu, 2 Insufficient memory.");
  auto wants_gpu = pod_of("p", asks("{example.com/gpu: '1'}"));
  EXPECT_EQ(cluster.choose(wants_gpu).node, "n2");
  cluster.put("n2", wants_gpu);
  EXPECT_EQ(cluster.why_not(pod_of("q", asks("{example.com/gpu: '1'}"))),
            "0/2 nodes are available: 2 Insufficient example.com/gpu.");
}

TEST(ChooseNode, respects_the_number_of_pods) {
  Cluster cluster;
  cluster.add("n1");
  for (int i = 0; i < 5; ++i) cluster.put("n1", pod_of("a"));
  EXPECT_EQ(cluster.why_not(pod_of("p")), "0/1 nodes are available: 1 Too many pods.");
  cluster.at("n1").remove(*cluster.at("n1").pods().front());
  EXPECT_EQ(cluster.choose(pod_of("p")).node, "n1");
}

TEST(ChooseNode, counts_init_containers_and_sidecars_as_a_kubelet_does) {
  auto pod = pod_of("p", R"({containers: [{name: c, resources: {requests: {cpu: 500m}}}],
    initContainers: [
      {name: a, resources: {requests: {cpu: 100m}}, restartPolicy: Always},
      {name: b, resources: {requests: {cpu: 700m}}}],
    overhead: {cpu: 10m}})");
  EXPECT_EQ(demand_of(*pod).cpu_milli, 810);  // b beside the sidecar a, and the overhead
}

TEST(ChooseNode, keeps_off_tainted_and_cordoned_nodes) {
  Cluster cluster;
  cluster.add("n1", "{taints: [{key: gpu, value: 'yes', effect: NoSchedule}]}");
  cluster.add("n2", "{unschedulable: true}");
  cluster.add("n3", "{taints: [{key: gone, effect: NoExecute}]}");
  EXPECT_EQ(cluster.why_not(pod_of("p")),
            "0/3 nodes are available: 1 node(s) had untolerated taint {gone: }, 1 node(s) had "
            "untolerated taint {gpu: yes}, 1 node(s) were unschedulable.");
  EXPECT_EQ(cluster.choose(pod_of("p", "{tolerations: [{key: gpu, value: 'yes'}]}")).node, "n1");
  EXPECT_EQ(cluster.choose(pod_of("p", "{tolerations: [{key: gone, operator: Exists}]}")).node,
            "n3");
  auto daemon = pod_of("p",
                       "{tolerations: [{key: node.kubernetes.io/unschedulable, operator: "
                       "Exists, effect: NoSchedule}]}");
  EXPECT_EQ(cluster.choose(daemon).node, "n2");
  EXPECT_NE(cluster.choose(pod_of("p", "{tolerations: [{operator: Exists}]}")).node, "");
}

TEST(ChooseNode, prefers_nodes_without_soft_taints) {
  Cluster cluster;
  cluster.add("n1", "{taints: [{key: old, effect: PreferNoSchedule}]}");
  cluster.add("n2");
  cluster.put("n2", pod_of("a", asks("{cpu: 1500m}")));
  EXPECT_EQ(cluster.choose(pod_of("p")).node, "n2");
}

TEST(ChooseNode, follows_node_selectors_and_affinity) {
  Cluster cluster;
  cluster.add("n1", "{}", "{disk: ssd, cores: '4'}");
  cluster.add("n2", "{}", "{disk: hdd, cores: '8'}");
  EXPECT_EQ(cluster.choose(pod_of("p", "{nodeSelector: {disk: hdd}}")).node, "n2");
  EXPECT_EQ(cluster.why_not(pod_of("p", "{nodeSelector: {disk: tape}}")),
            "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.");
  auto required = [](std::string_view term) {
    return pod_of("p", fmt::format("{{affinity: {{nodeAffinity: "
                                   "{{requiredDuringSchedulingIgnoredDuringExecution: "
                                   "{{nodeSelectorTerms: [{}]}}}}}}}}",
                                   term));
  };
  EXPECT_EQ(
      cluster.choose(required("{matchExpressions: [{key: cores, operator: Gt, values: ['5']}]}"))
          .node,
      "n2");
  EXPECT_EQ(
      cluster.choose(required("{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}"))
          .node,
      "n1");
  EXPECT_EQ(cluster.choose(required("{}")).node, "");
  auto preferred = pod_of("p", R"({affinity: {nodeAffinity: {
    preferredDuringSchedulingIgnoredDuringExecution: [{weight: 50, preference: {
      matchExpressions: [{key: disk, operator: In, values: [hdd]}]}}]}}})");
  cluster.put("n2", pod_of("a", asks("{cpu: '1'}")));
  EXPECT_EQ(cluster.choose(preferred).node, "n2");
}

std::string affinity(std::string_view which, std::string_view label) {
  return fmt::format(
      "{{affinity: {{{}: {{requiredDuringSchedulingIgnoredDuringExecution: [{{topologyKey: zone, "
      "labelSelector: {{matchLabels: {{app: {}}}}}}}]}}}}}}",
      which, label);
}

TEST(ChooseNode, puts_pods_near_and_apart) {
  Cluster cluster;
  cluster.add("n1", "{}", "{zone: a}");
  cluster.add("n2", "{}", "{zone: a}");
  cluster.add("n3", "{}", "{zone: b}");
  cluster.put("n1", pod_of("web", "{}", "{app: web}"));
  EXPECT_THAT(cluster.choose(pod_of("p", affinity("podAffinity", "web"))).node, AnyOf("n1", "n2"));
  EXPECT_EQ(cluster.choose(pod_of("p", affinity("podAntiAffinity", "web"))).node, "n3");
  EXPECT_EQ(cluster.why_not(pod_of("p", affinity("podAffinity", "db"))),
            "0/3 nodes are available: 3 node(s) didn't match pod affinity rules.");
  // The first of a group that wants to be together.
  EXPECT_NE(cluster.choose(pod_of("p", affinity("podAffinity", "db"), "{app: db}")).node, "");
}

TEST(ChooseNode, obeys_pods_that_want_to_stay_alone) {
  Cluster cluster;
  cluster.add("n1", "{}", "{zone: a}");
  cluster.add("n2", "{}", "{zone: a}");
  auto alone = pod_of("a", affinity("podAntiAffinity", "noisy"));
  cluster.put("n1", alone);
  EXPECT_EQ(cluster.why_not(pod_of("p", "{}", "{app: noisy}")),
            "0/2 nodes are available: 2 node(s) didn't satisfy existing pods anti-affinity rules.");
  EXPECT_NE(cluster.choose(pod_of("p", "{}", "{app: quiet}")).node, "");
  cluster.at("n1").remove(PlacedPod(alone));
  EXPECT_NE(cluster.choose(pod_of("p", "{}", "{app: noisy}")).node, "");
}

TEST(ChooseNode, keeps_host_ports_apart) {
  Cluster cluster;
  cluster.add("n1");
  const char* spec = "{containers: [{name: c, ports: [{containerPort: 80, hostPort: 8080}]}]}";
  cluster.put("n1", pod_of("a", spec));
  EXPECT_EQ(cluster.why_not(pod_of("p", spec)),
            "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod "
            "ports.");
  auto other = "{containers: [{name: c, ports: [{hostPort: 8080, protocol: UDP}]}]}";
  EXPECT_EQ(cluster.choose(pod_of("p", other)).node, "n1");
}

TEST(ChooseNode, spreads_the_pods_of_one_owner) {
  Cluster cluster;
  cluster.add("n1");
  cluster.add("n2");
  auto owned = [](std::string_view name) {
    kube::Pod pod = *pod_of(name);
    kube::Owner owner;
    owner.uid = "rs";
    pod.meta.owners.push_back(std::move(owner));
    return std::make_shared<const kube::Pod>(std::move(pod));
  };
  cluster.put("n1", owned("a"));
  cluster.put("n2", pod_of("b", asks("{cpu: 500m}")));
  EXPECT_EQ(cluster.choose(owned("c")).node, "n2");
}

TEST(ChooseNode, looks_at_enough_nodes_of_a_large_cluster_and_no_more) {
  Cluster cluster;
  for (int i = 0; i < 300; ++i) cluster.add(fmt::format("n{:03}", i));
  Choice first = cluster.choose(pod_of("p"));
  EXPECT_EQ(first.looked_at, 100u);
  EXPECT_EQ(cluster.choose(pod_of("p"), 290).node, "n290");
  EXPECT_EQ(cluster.choose(pod_of("p", asks("{cpu: '3'}"))).looked_at, 300u);
}

}  // namespace
}  // namespace plim::local::controllers::scheduler
