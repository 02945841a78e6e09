#include <cstdlib>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "placement/engine.hpp"
#include "placement/testing/objects.hpp"

namespace plim::placement {
namespace {

using testing::decide_all;
using testing::labels_of;
using testing::plain_node;
using testing::plain_pod;
using testing::pod_of;
using testing::raw_score;
using testing::score_of;

constexpr auto kInterPodId = PluginId::InterPodAffinity;

Engine hosts(int count) {
  Engine out;
  for (int i = 1; i <= count; ++i)
    out.set_node(
        plain_node(fmt::format("n{}", i), fmt::format("{{host: n{}, zone: z{}}}", i, i % 2)));
  out.set_namespace("default", labels_of("{team: one}"));
  out.set_namespace("other", labels_of("{team: two}"));
  return out;
}

std::string term(std::string_view app, std::string_view key, std::string_view more = "") {
  return fmt::format("labelSelector: {{matchLabels: {{app: {}}}}}, topologyKey: {}{}", app, key,
                     more);
}

PodPointer social(std::string_view affinity, std::string_view app = "web",
                  std::string_view ns = "default") {
  return pod_of(
      fmt::format("{{metadata: {{name: p, namespace: {}, labels: {{app: {}}}}}, spec: "
                  "{{containers: [{{name: c}}], affinity: {{{}}}}}}}",
                  ns, app, affinity));
}

std::string required(std::string_view kind, std::string_view terms) {
  return fmt::format("{}: {{requiredDuringSchedulingIgnoredDuringExecution: [{{{}}}]}}", kind,
                     terms);
}

std::string preferred(std::string_view kind, int weight, std::string_view terms) {
  return fmt::format(
      "{}: {{preferredDuringSchedulingIgnoredDuringExecution: [{{weight: {}, podAffinityTerm: "
      "{{{}}}}}]}}",
      kind, weight, terms);
}

std::string who(Engine& engine, const PodPointer& pod) {
  std::string out;
  for (NodeIndex row : decide_all(engine, pod, default_profile()).feasible_nodes)
    out += engine.node_name(row);
  return out;
}

TEST(InterPod, required_affinity_needs_a_matching_pod) {
  auto engine = hosts(4);
  engine.set_pod(plain_pod("db", "{}", "{app: db}"), "n1");
  EXPECT_EQ(who(engine, social(required("podAffinity", term("db", "host")))), "n1");
  EXPECT_EQ(who(engine, social(required("podAffinity", term("db", "zone")))), "n1n3");
  EXPECT_EQ(
      decide_all(engine, social(required("podAffinity", term("gone", "zone"))), default_profile())
          .message,
      "0/4 nodes are available: 4 node(s) didn't match pod affinity rules.");
}

TEST(InterPod, the_first_of_a_group_may_go_anywhere_that_has_the_key) {
  auto engine = hosts(2);
  engine.set_node(plain_node("bare"));
  auto pod = social(required("podAffinity", term("web", "zone")));
  EXPECT_EQ(who(engine, pod), "n1n2");
  engine.set_pod(plain_pod("w", "{}", "{app: web}"), "n2");
  EXPECT_EQ(who(engine, pod), "n2");
}

TEST(InterPod, required_anti_affinity_avoids_matching_pods) {
  auto engine = hosts(3);
  engine.set_pod(plain_pod("w", "{}", "{app: web}"), "n1");
  EXPECT_EQ(who(engine, social(required("podAntiAffinity", term("web", "host")))), "n2n3");
  EXPECT_EQ(who(engine, social(required("podAntiAffinity", term("web", "zone")))), "n2");
}

TEST(InterPod, anti_affinity_of_existing_pods_rejects_nodes) {
  auto engine = hosts(3);
  auto loner = social(required("podAntiAffinity", term("web", "zone")), "db");
  engine.set_pod(loner, "n1");
  EXPECT_EQ(who(engine, plain_pod("w", "{}", "{app: web}")), "n2");
  EXPECT_EQ(who(engine, plain_pod("x", "{}", "{app: other}")), "n1n2n3");
  engine.set_pod(loner, "n2");  // it moved
  EXPECT_EQ(who(engine, plain_pod("w", "{}", "{app: web}")), "n1n3");
  engine.remove_node("n1");
  engine.remove_node("n3");
  EXPECT_EQ(decide_all(engine, plain_pod("w", "{}", "{app: web}"), default_profile()).message,
            "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules.");
}

TEST(InterPod, matches_its_own_namespace_unless_others_are_given) {
  auto engine = hosts(2);
  engine.set_pod(pod_of("{metadata: {name: d, namespace: other, labels: {app: db}}}"), "n1");
  EXPECT_EQ(who(engine, social(required("podAffinity", term("db", "host")))), "");
  EXPECT_EQ(
      who(engine, social(required("podAffinity", term("db", "host", ", namespaces: [other]")))),
      "n1");
  EXPECT_EQ(
      who(engine, social(required("podAffinity", term("db", "host",
                                                      ", namespaceSelector: {matchLabels: {team: "
                                                      "two}}")))),
      "n1");
  EXPECT_EQ(
      who(engine, social(required("podAffinity", term("db", "host", ", namespaceSelector: {}")))),
      "n1");
}

TEST(InterPod, before_1_37_a_selector_that_absent_labels_satisfy_matches_every_namespace) {
  auto engine = hosts(2);
  engine.set_pod(pod_of("{metadata: {name: d, namespace: other, labels: {app: db}}}"), "n1");
  const auto pod = social(required(
      "podAffinity", term("db", "host",
                          ", namespaceSelector: {matchExpressions: [{key: team, operator: NotIn, "
                          "values: [two]}]}")));
  EXPECT_EQ(who(engine, pod), "");
  Release old;
  old.minor = 36;
  EXPECT_EQ(decide_all(engine, pod, default_profile(old)).feasible, 1u);
}

// Pods that come after the term was counted once are found by label and namespace.
TEST(InterPod, counts_a_pod_once_if_a_term_gives_its_namespace_twice) {
  auto engine = hosts(3);
  const auto pod = social(preferred(
      "podAffinity", 10,
      term("db", "host",
           ", namespaces: [other, other], namespaceSelector: {matchLabels: {team: two}}")));
  const auto there = pod_of("{metadata: {name: d, namespace: other, labels: {app: db}}}");
  EXPECT_EQ(decide_all(engine, pod, default_profile()).feasible, 3u);
  engine.set_pod(there, "n1");
  EXPECT_EQ(raw_score(decide_all(engine, pod, default_profile()), "n1", kInterPodId), 10);
  engine.remove_pod(pod_key(*there));
  EXPECT_EQ(raw_score(decide_all(engine, pod, default_profile()), "n1", kInterPodId), -1);
}

TEST(InterPod, terms_of_existing_pods_select_namespaces_by_labels) {
  auto engine = hosts(2);
  engine.set_pod(
      social(required("podAntiAffinity", term("web", "host",
                                              ", namespaceSelector: {matchExpressions: [{key: "
                                              "team, operator: NotIn, values: [one]}]}")),
             "db"),
      "n1");
  EXPECT_EQ(who(engine, plain_pod("w", "{}", "{app: web}")), "n1n2");
  EXPECT_EQ(who(engine, pod_of("{metadata: {name: w, namespace: other, labels: {app: web}}}")),
            "n2");
}

TEST(InterPodScore, sums_what_both_sides_prefer) {
  auto engine = hosts(3);
  engine.set_pod(plain_pod("db", "{}", "{app: db}"), "n1");
  engine.set_pod(plain_pod("db", "{}", "{app: db}"), "n1");
  engine.set_pod(social(preferred("podAntiAffinity", 3, term("web", "host")), "x"), "n2");
  engine.set_pod(social(required("podAffinity", term("web", "host")), "late"), "n3");
  auto made = decide_all(engine, social(preferred("podAffinity", 5, term("db", "host"))),
                         default_profile());
  EXPECT_EQ(raw_score(made, "n1", kInterPodId), 10);
  EXPECT_EQ(raw_score(made, "n2", kInterPodId), -3);
  EXPECT_EQ(raw_score(made, "n3", kInterPodId), 1);
  EXPECT_EQ(score_of(made, "n1", kInterPodId), 100);
  EXPECT_EQ(score_of(made, "n2", kInterPodId), 0);
  EXPECT_EQ(score_of(made, "n3", kInterPodId), 30);
}

TEST(InterPodScore, gives_no_score_without_preferences) {
  auto engine = hosts(2);
  engine.set_pod(plain_pod("db", "{}", "{app: db}"), "n1");
  auto made = decide_all(engine, plain_pod("p"), default_profile());
  EXPECT_EQ(raw_score(made, "n1", kInterPodId), -1);
  Profile deaf = default_profile();
  deaf.inter_pod.ignore_preferred_of_existing = true;
  engine.set_pod(social(preferred("podAffinity", 5, term("web", "host")), "x"), "n2");
  auto web = plain_pod("w", "{}", "{app: web}");
  EXPECT_EQ(raw_score(decide_all(engine, web, default_profile()), "n2", kInterPodId), 5);
  EXPECT_EQ(raw_score(decide_all(engine, web, deaf), "n2", kInterPodId), -1);
}

// The scores of three nodes whose pods prefer the incoming pod with these weights.
std::vector<std::int64_t> normalized(std::initializer_list<int> weights) {
  auto engine = hosts(3);
  int node = 0;
  for (int weight : weights) {
    ++node;
    if (weight == 0) continue;
    auto kind = weight > 0 ? "podAffinity" : "podAntiAffinity";
    engine.set_pod(social(preferred(kind, std::abs(weight), term("web", "host")), "x"),
                   fmt::format("n{}", node));
  }
  auto made = decide_all(engine, plain_pod("w", "{}", "{app: web}"), default_profile());
  std::vector<std::int64_t> out;
  for (auto name : {"n1", "n2", "n3"}) out.push_back(score_of(made, name, kInterPodId));
  return out;
}

TEST(InterPodScore, normalizes_between_the_lowest_and_the_highest) {
  EXPECT_EQ(normalized({10, 3, 7}), (std::vector<std::int64_t>{100, 0, 57}));
  EXPECT_EQ(normalized({5, -3, 0}), (std::vector<std::int64_t>{100, 0, 37}));
  EXPECT_EQ(normalized({2, 2, 2}), (std::vector<std::int64_t>{0, 0, 0}));
}

}  // namespace
}  // namespace plim::placement
