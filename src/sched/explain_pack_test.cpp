#include "sched/explain_pack.hpp"

#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/json.hpp"

namespace plim::sched {
namespace {

ScoredNode node_row(std::string name, std::int64_t fit, std::int64_t spread) {
  ScoredNode out{.node = std::move(name), .total = fit + 2 * spread, .scores = {}};
  out.scores = {{PluginId::NodeResourcesFit, fit, fit, fit},
                {PluginId::PodTopologySpread, spread - 100, spread, 2 * spread}};
  out.missing_bytes = 1000 * fit;
  return out;
}

ExplainRecord chosen_record(std::size_t rows) {
  ExplainRecord out;
  out.ns = "default";
  out.name = "web-5d8f7c";
  out.uid = "0f6b1c2e-7a1c-4b0e-9a55-6f2f0a3f7c11";
  out.profile = "default-scheduler";
  out.attempt = 3;
  out.started = WallTime(std::chrono::seconds(1'700'000'000) + Nanos(123'456'789));
  out.took = std::chrono::microseconds(31);
  out.version = 17;
  out.plugins = {{PluginId::NodeResourcesFit, 1}, {PluginId::PodTopologySpread, 2}};
  out.mode = LocalityMode::Bytes;
  out.decision.outcome = Decision::Outcome::chosen;
  out.decision.node = "node-0000";
  out.decision.total_nodes = 1000;
  out.decision.feasible = 998;
  out.decision.tie_size = 12;
  out.decision.tie_rule = placement::TieRule::locality;
  for (std::size_t i = 0; i < rows; ++i) {
    out.decision.rows.push_back(
        node_row(fmt::format("node-{:04}", i), 90 - static_cast<std::int64_t>(i / 8), 100));
    out.details.push_back(fmt::format("missing {} MB", i / 5));
  }
  out.notes = {"kube-scheduler would give 0/0"};
  return out;
}

void expect_same(const ExplainRecord& record) {
  EXPECT_EQ(to_json(explain_to_json(unpack(pack(record)))), to_json(explain_to_json(record)));
}

TEST(ExplainPack, gives_back_a_placement) {
  expect_same(chosen_record(20));
  expect_same(chosen_record(1));
  expect_same(chosen_record(0));
}

TEST(ExplainPack, gives_back_a_rejection) {
  ExplainRecord record = chosen_record(0);
  record.decision.outcome = Decision::Outcome::unschedulable;
  record.decision.node = "";
  record.decision.tie_rule = placement::TieRule::none;
  record.decision.message = "0/3 nodes are available: 3 Insufficient cpu.";
  record.message = record.decision.message + " preemption: none";
  record.rejected = {{.plugin = "NodeResourcesFit",
                      .code = RejectCode::unresolvable,
                      .reason = "Insufficient cpu",
                      .count = 3,
                      .samples = {"a-1", "a-2", "b"},
                      .details = {"cpu: asks 2", "", "cpu: asks 2"}}};
  record.post_filter = {.message = "none", .nominated = "a-1", .victims = {"default/x", "y/z"}};
  expect_same(record);
}

TEST(ExplainPack, gives_back_scores_of_any_size_and_plugins_of_any_row) {
  ExplainRecord record = chosen_record(3);
  record.decision.rows[0].scores[0].raw = std::numeric_limits<std::int64_t>::max();
  record.decision.rows[1].scores[0].raw = std::numeric_limits<std::int64_t>::min();
  record.decision.rows[1].total = -1;
  record.decision.rows[2].scores.pop_back();
  record.compat = {.total = 7, .scores = {{"node-0000", 5}, {"node-0001", -5}, {"other", 0}}};
  expect_same(record);
}

TEST(ExplainPack, gives_back_scores_of_extenders) {
  ExplainRecord record = chosen_record(3);
  for (ScoredNode& row : record.decision.rows)
    row.extenders = {{"http://127.0.0.1:8888/x", 3, 7, 210}, {"http://127.0.0.1:8888/y", 1, 0, 0}};
  expect_same(record);
}

TEST(ExplainPack, keeps_twenty_rows_in_less_than_a_kilobyte) {
  EXPECT_LT(pack(chosen_record(20)).capacity(), 1000u);
}

TEST(ExplainPack, reads_the_key_without_unpacking_the_rest) {
  const std::string packed = pack(chosen_record(20));
  const PackedKey key = packed_key(packed);
  EXPECT_EQ(key.ns, "default");
  EXPECT_EQ(key.name, "web-5d8f7c");
  EXPECT_EQ(key.uid, "0f6b1c2e-7a1c-4b0e-9a55-6f2f0a3f7c11");
  EXPECT_EQ(key.attempt, 3);
}

TEST(ExplainPack, survives_truncated_bytes) {
  const std::string packed = pack(chosen_record(20));
  for (std::size_t size = 0; size < packed.size(); ++size) {
    const ExplainRecord some = unpack(std::string_view(packed).substr(0, size));
    EXPECT_LE(some.decision.rows.size(), 20u);
  }
}

}  // namespace
}  // namespace plim::sched
