#include "placement/cluster_snapshot.hpp"

#include <gtest/gtest.h>

namespace plim::placement {
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

TEST(Snapshot, reads_the_kinds_that_decisions_use_and_skips_others) {
  kube::InternPool pool;
  const Snapshot snapshot = snapshot_of(kCluster, pool);
  EXPECT_EQ(snapshot.nodes.size(), 3u);
  EXPECT_EQ(snapshot.pods.size(), 1u);
  ASSERT_EQ(snapshot.namespaces.size(), 1u);
  EXPECT_EQ(snapshot.namespaces[0].first, "red");
  ASSERT_EQ(snapshot.owners.size(), 1u);
  EXPECT_EQ(snapshot.owners[0].name, "web");
}

TEST(Snapshot, names_the_invalid_object_in_the_error) {
  kube::InternPool pool;
  auto read = read_snapshot("{kind: Pod, metadata: {name: a, namespace: b}, spec: {containers: 7}}",
                            "f.yaml", pool);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("f.yaml: Pod \"b/a\": spec.containers"), std::string::npos)
      << read.error().message;
  EXPECT_FALSE(read_snapshot("[1, 2]", "f.yaml", pool));
}

TEST(Snapshot, rejects_objects_that_an_api_server_rejects) {
  kube::InternPool pool;
  const auto refusal = [&](std::string_view text) {
    auto read = read_snapshot(text, "f.yaml", pool);
    return read ? "accepted" : read.error().message;
  };
  EXPECT_EQ(refusal("{kind: Node, metadata: {name: ''}}"), "f.yaml: a Node without a name");
  EXPECT_EQ(refusal("{kind: Node, metadata: {name: a}}\n---\n{kind: Node, metadata: {name: a}}"),
            "f.yaml: Node \"a\" occurs twice");
  // `kubectl get all` lists an object once for each API group that serves it.
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

TEST(Snapshot, reads_claims_volumes_classes_and_budgets) {
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

TEST(Snapshot, sets_the_defaults_that_a_manifest_leaves_out) {
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

TEST(Snapshot, rejects_a_pod_file_without_pods) {
  kube::InternPool pool;
  EXPECT_FALSE(read_pods("", "pod.yaml", pool));
  EXPECT_FALSE(read_pods("{kind: Node, metadata: {name: a}}", "pod.yaml", pool));
  EXPECT_FALSE(read_pods("{kind: Pod}", "pod.yaml", pool));
}

}  // namespace
}  // namespace plim::placement
