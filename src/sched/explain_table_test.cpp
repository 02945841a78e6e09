#include "sched/explain_table.hpp"

#include <gtest/gtest.h>

#include "placement/cluster_snapshot.hpp"
#include "sched/explain.hpp"

namespace plim::sched {
namespace {

constexpr std::string_view kThreeNodes = R"(
apiVersion: v1
kind: NodeList
items:
- {metadata: {name: big}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}}
- {metadata: {name: small}, status: {allocatable: {cpu: 1, memory: 8Gi, pods: "10"}}}
- metadata: {name: closed}
  spec: {taints: [{key: role, value: master, effect: NoSchedule}]}
  status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
kind: Pod
metadata: {name: there, namespace: default}
spec: {nodeName: small, containers: [{name: c, resources: {requests: {cpu: 500m}}}]}
---
{kind: Service, metadata: {name: web, namespace: default}, spec: {selector: {app: web}}}
)";

class Explain : public ::testing::Test {
 protected:
  json::value record(std::string_view cpu) {
    auto snapshot = placement::read_snapshot(kThreeNodes, "cluster.yaml", pool_);
    EXPECT_TRUE(snapshot) << snapshot.error().message;
    placement::fill_engine(engine_, *snapshot);
    auto pods = placement::read_pods(
        "{kind: Pod, metadata: {name: web}, spec: {containers: [{name: c, "
        "image: web, resources: {requests: {cpu: " +
            std::string(cpu) + "}}}]}}",
        "pod.yaml", pool_);
    EXPECT_TRUE(pods);
    return explain_to_json(
        explain(engine_, *pods->at(0), placement::default_profile(), clock_, {}));
  }

  kube::InternPool pool_;
  Engine engine_;
  FakeClock clock_;
};

TEST_F(Explain, shows_scores_rejections_and_the_deciding_plugin) {
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

TEST_F(Explain, compares_with_the_chosen_node) {
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

TEST(ExplainTable, survives_invalid_records) {
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
