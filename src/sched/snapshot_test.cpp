#include "sched/snapshot.hpp"

#include <gtest/gtest.h>

#include "sched/explain.hpp"
#include "sched/explain_table.hpp"

namespace plim::sched {
namespace {

constexpr std::string_view kCluster = R"(
kind: Namespace
apiVersion: v1
metadata: {name: red, labels: {team: red}}
---
apiVersion: v1
kind: NodeList
items:
- {metadata: {name: big}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}}
- {metadata: {name: small}, status: {allocatable: {cpu: 1, memory: 8Gi, pods: "10"}}}
- metadata: {name: closed}
  spec: {taints: [{key: role, value: master, effect: NoSchedule}]}
  status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: List
items:
- kind: Pod
  metadata: {name: there, namespace: default}
  spec: {nodeName: small, containers: [{name: c, resources: {requests: {cpu: 500m}}}]}
- {kind: Service, metadata: {name: web, namespace: default}, spec: {selector: {app: web}}}
- {kind: Service, metadata: {name: none, namespace: default}, spec: {}}
- {kind: ConfigMap, metadata: {name: c, namespace: default}, data: {a: b}}
)";

Snapshot snapshot_of(std::string_view text, kube::InternPool& pool) {
  auto read = read_snapshot(text, "cluster.yaml", pool);
  EXPECT_TRUE(read) << read.error().message;
  return read ? std::move(*read) : Snapshot();
}

TEST(Snapshot, takes_what_decisions_look_at_and_nothing_else) {
  kube::InternPool pool;
  const Snapshot snapshot = snapshot_of(kCluster, pool);
  EXPECT_EQ(snapshot.nodes.size(), 3u);
  EXPECT_EQ(snapshot.pods.size(), 1u);
  ASSERT_EQ(snapshot.namespaces.size(), 1u);
  EXPECT_EQ(snapshot.namespaces[0].first, "red");
  ASSERT_EQ(snapshot.owners.size(), 1u);
  EXPECT_EQ(snapshot.owners[0].name, "web");
}

TEST(Snapshot, names_the_object_that_cannot_be_read) {
  kube::InternPool pool;
  auto read = read_snapshot("{kind: Pod, metadata: {name: a, namespace: b}, spec: {containers: 7}}",
                            "f.yaml", pool);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("f.yaml: Pod \"b/a\": spec.containers"), std::string::npos)
      << read.error().message;
  EXPECT_FALSE(read_snapshot("[1, 2]", "f.yaml", pool));
}

TEST(Snapshot, refuses_what_no_api_server_takes) {
  kube::InternPool pool;
  const auto refusal = [&](std::string_view text) {
    auto read = read_snapshot(text, "f.yaml", pool);
    return read ? "accepted" : read.error().message;
  };
  EXPECT_EQ(refusal("{kind: Node, metadata: {name: ''}}"), "f.yaml: a Node without a name");
  EXPECT_EQ(refusal("{kind: Node, metadata: {name: a}}\n---\n{kind: Node, metadata: {name: a}}"),
            "f.yaml: Node \"a\" is there twice");
  // As `kubectl get all` gives what two groups of the API have.
  EXPECT_EQ(refusal("{apiVersion: v1, kind: Event, metadata: {name: a}}\n---\n"
                    "{apiVersion: events.k8s.io/v1, kind: Event, metadata: {name: a}}"),
            "accepted");
  EXPECT_EQ(refusal("{kind: Node, metadata: {name: a}, status: {allocatable: {pods: many}}}")
                .substr(0, 43),
            "f.yaml: Node \"a\": status.allocatable.pods: ");
  EXPECT_EQ(refusal("{kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, resources: "
                    "{requests: {cpu: {}}}}]}}")
                .substr(0, 41),
            "f.yaml: Pod \"p\": resources.requests.cpu: ");
}

TEST(Snapshot, knows_claims_volumes_classes_and_budgets) {
  kube::InternPool pool;
  const Snapshot snapshot = snapshot_of(
      "{kind: PersistentVolumeClaim, metadata: {name: c, namespace: default}, spec: {volumeName: "
      "v}}"
      "\n---\n{kind: PersistentVolume, metadata: {name: v}}"
      "\n---\n{kind: StorageClass, metadata: {name: s}, volumeBindingMode: WaitForFirstConsumer}"
      "\n---\n{kind: PodDisruptionBudget, metadata: {name: b, namespace: default}, status: "
      "{disruptionsAllowed: 2}}",
      pool);
  ASSERT_EQ(snapshot.claims.size(), 1u);
  EXPECT_EQ(snapshot.claims[0].volume, "v");
  EXPECT_EQ(snapshot.volumes.size(), 1u);
  ASSERT_EQ(snapshot.classes.size(), 1u);
  EXPECT_TRUE(snapshot.classes[0].waits_for_consumer);
  ASSERT_EQ(snapshot.budgets.size(), 1u);
  EXPECT_EQ(snapshot.budgets[0].allowed, 2);
}

TEST(Snapshot, fills_in_what_a_manifest_leaves_out) {
  kube::InternPool pool;
  auto pods = read_pods(
      "{kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, resources: {limits: {cpu: "
      "2}}}]}}",
      "pod.yaml", pool);
  ASSERT_TRUE(pods) << pods.error().message;
  const kube::Pod& pod = *pods->at(0);
  EXPECT_EQ(pod.meta.ns, "default");
  EXPECT_EQ(pod.spec.scheduler_name, "default-scheduler");
  ASSERT_EQ(pod.spec.containers[0].requests.size(), 1u);
  EXPECT_EQ(pod.spec.containers[0].requests[0].second, "2");
}

TEST(Snapshot, refuses_a_pod_file_without_pods) {
  kube::InternPool pool;
  EXPECT_FALSE(read_pods("", "pod.yaml", pool));
  EXPECT_FALSE(read_pods("{kind: Node, metadata: {name: a}}", "pod.yaml", pool));
  EXPECT_FALSE(read_pods("{kind: Pod}", "pod.yaml", pool));
}

class Explain : public ::testing::Test {
 protected:
  json::value record(std::string_view cpu) {
    fill_engine(engine_, snapshot_of(kCluster, pool_));
    auto pods = read_pods(
        "{kind: Pod, metadata: {name: web}, spec: {containers: [{name: c, "
        "image: web, resources: {requests: {cpu: " +
            std::string(cpu) + "}}}]}}",
        "pod.yaml", pool_);
    EXPECT_TRUE(pods);
    return explain_to_json(explain(engine_, *pods->at(0), default_profile(), clock_, {}));
  }

  kube::InternPool pool_;
  Engine engine_;
  FakeClock clock_;
};

TEST_F(Explain, shows_scores_refusals_and_who_decided) {
  const std::string table = explain_table(record("100m"));
  EXPECT_NE(table.find("POD     default/web  profile default-scheduler  attempt 1  0us\n"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("RESULT  big  "), std::string::npos) << table;
  EXPECT_NE(table.find("decided by NodeResourcesFit"), std::string::npos) << table;
  EXPECT_NE(table.find("NODES   3 = 2 feasible (all scored) + 1 rejected\n"), std::string::npos)
      << table;
  EXPECT_NE(table.find("TaintToleration: node(s) had untolerated taint(s) "
                       "[role=master:NoSchedule]"),
            std::string::npos)
      << table;
}

TEST_F(Explain, says_that_one_feasible_node_is_not_scored) {
  const json::value one = record("2");
  EXPECT_EQ(text_at(one, {"outcome"}), "single-feasible");
  EXPECT_NE(explain_table(one).find("RESULT  big   the only feasible node: scoring was skipped"),
            std::string::npos);
}

TEST_F(Explain, names_the_numbers_when_asked_why_not) {
  EXPECT_EQ(explain_why_not(record("2"), "small"),
            "small was rejected by NodeResourcesFit: Insufficient cpu [cpu: asks 2, 500m of 1 "
            "free]\n");
}

TEST_F(Explain, compares_with_the_node_that_was_taken) {
  const std::string text = explain_why_not(record("100m"), "small");
  EXPECT_EQ(text.rfind("small was feasible, but ", 0), 0u) << text;
  EXPECT_NE(text.find("NodeResourcesFit"), std::string::npos) << text;
}

TEST_F(Explain, gives_the_reasons_when_no_node_is_left) {
  const json::value none = record("40");
  EXPECT_EQ(text_at(none, {"outcome"}), "unschedulable");
  EXPECT_TRUE(text_at(none, {"message"})
                  .starts_with("0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 "
                               "Insufficient cpu."));
}

TEST(ExplainTable, survives_records_that_are_none) {
  EXPECT_FALSE(explain_table(json::value()).empty());
  EXPECT_FALSE(explain_table(json::value{{"rows", 7}, {"rejected", {1, 2}}}).empty());
  EXPECT_FALSE(explain_why_not(json::value{{"node", 1}}, "a\x1b").empty());
}

TEST(ExplainRecord, writes_sizes_as_crictl_does) {
  EXPECT_EQ(image_size_text(771000), "771 kB");
  EXPECT_EQ(image_size_text(12), "12 B");
  EXPECT_EQ(image_size_text(999600), "1 MB");
  EXPECT_EQ(image_size_text(4090000000), "4.09 GB");
}

}  // namespace
}  // namespace plim::sched
