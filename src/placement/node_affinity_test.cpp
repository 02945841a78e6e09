#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/json.hpp"
#include "base/random.hpp"
#include "base/yaml.hpp"
#include "placement/engine.hpp"
#include "placement/testing/objects.hpp"

namespace plim::placement {
namespace {

using testing::decide_all;
using testing::plain_node;
using testing::pod_of;
using testing::raw_score;
using testing::score_of;

constexpr auto kAffinity = PluginId::NodeAffinity;

PodPointer choosy(std::string_view spec) {
  return pod_of(
      fmt::format("{{metadata: {{name: p}}, spec: {{containers: [{{name: c}}], {}}}}}", spec));
}

PodPointer requiring(std::string_view terms) {
  return choosy(
      fmt::format("affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: "
                  "{{nodeSelectorTerms: {}}}}}}}",
                  terms));
}

Engine three_nodes() {
  Engine out;
  out.set_node(plain_node("a", "{disk: ssd, cores: '4'}"));
  out.set_node(plain_node("b", "{disk: hdd, cores: '16'}"));
  out.set_node(plain_node("c"));
  return out;
}

std::string feasible_of(Engine& engine, const PodPointer& pod) {
  auto made = decide_all(engine, pod, default_profile());
  std::string out;
  for (NodeIndex row : made.feasible_nodes) out += engine.node_name(row);
  return out;
}

TEST(NodeAffinity, selects_by_labels) {
  auto engine = three_nodes();
  EXPECT_EQ(feasible_of(engine, choosy("nodeSelector: {disk: ssd}")), "a");
  EXPECT_EQ(decide_all(engine, choosy("nodeSelector: {disk: tape}"), default_profile()).message,
            "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.");
}

TEST(NodeAffinity, knows_every_operator) {
  auto engine = three_nodes();
  auto one = [&](std::string_view expression) {
    return feasible_of(engine, requiring(fmt::format("[{{matchExpressions: [{}]}}]", expression)));
  };
  EXPECT_EQ(one("{key: disk, operator: In, values: [ssd, hdd]}"), "ab");
  EXPECT_EQ(one("{key: disk, operator: NotIn, values: [ssd]}"), "bc");
  EXPECT_EQ(one("{key: disk, operator: Exists}"), "ab");
  EXPECT_EQ(one("{key: disk, operator: DoesNotExist}"), "c");
  EXPECT_EQ(one("{key: cores, operator: Gt, values: ['4']}"), "b");
  EXPECT_EQ(one("{key: cores, operator: Lt, values: ['5']}"), "a");
}

TEST(NodeAffinity, terms_are_alternatives_and_an_empty_one_matches_nothing) {
  auto engine = three_nodes();
  EXPECT_EQ(feasible_of(engine, requiring("[{}]")), "");
  EXPECT_EQ(feasible_of(engine, requiring("[{}, {matchExpressions: [{key: disk, operator: "
                                          "DoesNotExist}]}]")),
            "c");
  EXPECT_EQ(
      feasible_of(engine, requiring("[{matchExpressions: [{key: disk, operator: Sideways}]}]")),
      "");
}

TEST(NodeAffinity, names_of_nodes_narrow_the_search) {
  auto engine = three_nodes();
  auto named = [](std::string_view name) {
    return fmt::format("{{matchFields: [{{key: metadata.name, operator: In, values: [{}]}}]}}",
                       name);
  };
  EXPECT_EQ(feasible_of(engine, requiring(fmt::format("[{}, {}]", named("a"), named("c")))), "ac");
  EXPECT_EQ(
      decide_all(engine, requiring(fmt::format("[{}]", named("gone"))), default_profile()).message,
      "0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [NodeAffinity].");
  auto torn = requiring(
      "[{matchFields: [{key: metadata.name, operator: In, values: [a]}, "
      "{key: metadata.name, operator: In, values: [b]}]}]");
  auto made = decide_all(engine, torn, default_profile());
  EXPECT_EQ(made.message, "0/3 nodes are available: pod affinity terms conflict.");
  EXPECT_EQ(made.pre_filter_message, "pod affinity terms conflict");
  EXPECT_EQ(made.pre_filter_code, RejectCode::unresolvable);
}

TEST(NodeAffinity, prefers_by_the_sum_of_weights) {
  auto engine = three_nodes();
  auto pod = choosy(
      "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: ["
      "{weight: 30, preference: {matchExpressions: [{key: disk, operator: Exists}]}},"
      "{weight: 10, preference: {matchExpressions: [{key: disk, operator: In, values: [ssd]}]}},"
      "{weight: 50, preference: {}}]}}");
  auto made = decide_all(engine, pod, default_profile());
  EXPECT_EQ(raw_score(made, "a", kAffinity), 40);
  EXPECT_EQ(score_of(made, "a", kAffinity), 100);
  EXPECT_EQ(score_of(made, "b", kAffinity), 75);
  EXPECT_EQ(score_of(made, "c", kAffinity), 0);
  EXPECT_EQ(raw_score(decide_all(engine, choosy("priority: 0"), default_profile()), "a", kAffinity),
            -1);
}

TEST(NodeAffinity, the_profile_adds_its_own) {
  auto engine = three_nodes();
  Profile profile = default_profile();
  profile.node_affinity.added = *parse_yaml(
      "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: "
      "[{key: disk, operator: In, values: [hdd]}]}]}}");
  auto made = decide_all(engine, choosy("nodeSelector: {disk: ssd}"), profile);
  EXPECT_EQ(
      made.message,
      "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 2 node(s) "
      "didn't match scheduler-enforced node affinity.");
}

TEST(NodeAffinity, rows_found_by_value_are_those_found_one_by_one) {
  NodeTable table;
  SeededRandom random(3);
  auto draw_node = [&](std::uint64_t number) {
    std::string labels;
    for (std::string_view key : {"zone", "cores"})
      if (auto value = random.below(4); value != 0)
        labels += fmt::format("{}: '{}', ", key, value == 1 ? "" : std::to_string(value));
    table.set(plain_node(fmt::format("n{}", number), fmt::format("{{{}}}", labels)));
  };
  for (std::uint64_t i = 0; i < 150; ++i) draw_node(i);
  constexpr std::string_view kOps[] = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"};
  for (int step = 0; step < 500; ++step) {
    if (random.below(3) == 0) table.remove(fmt::format("n{}", random.below(150)));
    draw_node(random.below(150));
    json::array terms;
    for (auto count = 1 + random.below(2); count > 0; --count) {
      json::array rules;
      for (auto rule = random.below(3); rule > 0; --rule) {
        const std::string_view op = kOps[random.below(std::size(kOps))];
        json::array values;
        if (op == "In" || op == "NotIn") values = {"2", random.below(2) == 0 ? "3" : ""};
        if (op == "Gt" || op == "Lt") values = {"2"};
        rules.push_back({{"key", random.below(2) == 0 ? "zone" : "cores"},
                         {"operator", op},
                         {"values", std::move(values)}});
      }
      json::array fields;
      if (random.below(4) == 0)
        fields.push_back({{"key", "metadata.name"},
                          {"operator", random.below(2) == 0 ? "In" : "NotIn"},
                          {"values", json::array{fmt::format("n{}", random.below(150))}}});
      terms.push_back({{"matchExpressions", std::move(rules)}, {"matchFields", std::move(fields)}});
    }
    const json::value affinity{{"requiredDuringSchedulingIgnoredDuringExecution",
                                {{"nodeSelectorTerms", std::move(terms)}}}};
    const NodeRules rules = read_node_rules(affinity, table);
    const RowSet found = rules.required_rows(table);
    for (NodeIndex row = 0; row < table.rows(); ++row)
      ASSERT_EQ(found.has(row), table.is_live(row) && rules.required_match(table, row))
          << to_json(affinity) << " on " << table.name(row);
  }
}

TEST(NodeAffinity, a_changed_label_is_seen_at_once) {
  auto engine = three_nodes();
  auto pod = choosy("nodeSelector: {disk: ssd}");
  EXPECT_EQ(feasible_of(engine, pod), "a");
  engine.set_node(plain_node("c", "{disk: ssd}"));
  EXPECT_EQ(feasible_of(engine, pod), "ac");
  engine.remove_node("a");
  EXPECT_EQ(feasible_of(engine, pod), "c");
}

}  // namespace
}  // namespace plim::placement
