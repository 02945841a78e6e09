#include "sched/explain_record.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/rfc3339.hpp"

namespace plim::sched {
namespace {

std::string_view outcome_word(Decision::Outcome outcome) {
  switch (outcome) {
    case Decision::Outcome::chosen:
      return "bound";
    case Decision::Outcome::single_feasible:
      return "single-feasible";
    case Decision::Outcome::unschedulable:
      return "unschedulable";
    case Decision::Outcome::error:
      return "error";
  }
  return "error";
}

std::string_view mode_word(LocalityMode mode) {
  switch (mode) {
    case LocalityMode::Compat:
      return "Compat";
    case LocalityMode::Bytes:
      return "Bytes";
    case LocalityMode::PullTime:
      return "PullTime";
  }
  return "Compat";
}

// Each extender is shown as a plugin, since there may be several.
std::string extender_label(const ExtenderPoints& points) {
  return fmt::format("Extender {}", points.extender);
}

json::array plugins_json(const ExplainRecord& record) {
  json::array out;
  for (const WeightedPlugin& entry : record.plugins) {
    json::object plugin{{"name", name_of(entry.plugin)}, {"weight", entry.weight}};
    if (entry.plugin == PluginId::ImageLocality) plugin["mode"] = mode_word(record.mode);
    out.push_back(std::move(plugin));
  }
  if (!record.decision.rows.empty())
    for (const ExtenderPoints& points : record.decision.rows[0].extenders)
      out.push_back({{"name", extender_label(points)}, {"weight", points.weight}});
  return out;
}

json::array rows_json(const ExplainRecord& record) {
  json::array out;
  for (std::size_t i = 0; i < record.decision.rows.size(); ++i) {
    const ScoredNode& row = record.decision.rows[i];
    json::array scores;
    for (const PluginScore& score : row.scores) {
      json::object one{{"plugin", name_of(score.plugin)},
                       {"raw", score.raw},
                       {"normalized", score.normalized},
                       {"weighted", score.weighted}};
      if (score.plugin == PluginId::ImageLocality && i < record.details.size() &&
          !record.details[i].empty())
        one["detail"] = record.details[i];
      scores.push_back(std::move(one));
    }
    for (const ExtenderPoints& points : row.extenders)
      scores.push_back({{"plugin", extender_label(points)},
                        {"raw", points.raw},
                        {"normalized", points.raw * 10},
                        {"weighted", points.weighted}});
    out.push_back({{"node", row.node}, {"total", row.total}, {"scores", std::move(scores)}});
  }
  return out;
}

json::array rejected_json(const ExplainRecord& record) {
  json::array out;
  for (const ExplainRecord::Rejected& one : record.rejected) {
    json::object entry{
        {"reason", one.reason},
        {"plugin", one.plugin},
        {"code",
         one.code == RejectCode::unschedulable ? "Unschedulable" : "UnschedulableAndUnresolvable"},
        {"count", one.count},
        {"samples", json::value_from(one.samples)}};
    if (std::ranges::any_of(one.details, [](const std::string& text) { return !text.empty(); }))
      entry["details"] = json::value_from(one.details);
    out.push_back(std::move(entry));
  }
  return out;
}

}  // namespace

bool has_all_nodes(const ExplainRecord& record) {
  const Decision& decision = record.decision;
  if (decision.outcome == Decision::Outcome::chosen && decision.rows.size() < decision.feasible)
    return false;
  std::size_t rejected = 0;
  for (const ExplainRecord::Rejected& one : record.rejected) {
    if (one.samples.size() < one.count) return false;
    rejected += one.count;
  }
  return decision.feasible + rejected >= decision.total_nodes;
}

bool has_node(const ExplainRecord& record, std::string_view node) {
  return record.decision.node == node ||
         std::ranges::any_of(record.decision.rows,
                             [&](const ScoredNode& row) { return row.node == node; }) ||
         std::ranges::any_of(record.rejected, [&](const ExplainRecord::Rejected& one) {
           return std::ranges::find(one.samples, node) != one.samples.end();
         });
}

json::object explain_to_json(const ExplainRecord& record) {
  const Decision& decision = record.decision;
  json::object out{
      {"pod", {{"namespace", record.ns}, {"name", record.name}, {"uid", record.uid}}},
      {"profile", record.profile},
      {"attempt", record.attempt},
      {"startedAt", format_rfc3339_micro(record.started)},
      {"durationMicros",
       std::chrono::duration_cast<std::chrono::microseconds>(record.took).count()},
      {"snapshotVersion", record.version},
      {"outcome", outcome_word(decision.outcome)},
      {"node", decision.node},
      {"tie", {{"size", decision.tie_size}, {"rule", name_of(decision.tie_rule)}}},
      {"nodes",
       {{"total", decision.total_nodes},
        {"feasible", decision.feasible},
        {"scored", decision.outcome == Decision::Outcome::chosen ? decision.feasible : 0}}},
      {"plugins", plugins_json(record)},
      {"rows", rows_json(record)},
      {"rejected", rejected_json(record)}};
  if (record.is_recomputed) out["recomputed"] = true;
  if (!record.message.empty()) out["message"] = record.message;
  if (record.post_filter)
    out["postFilter"] = {{"message", record.post_filter->message},
                         {"nominated", record.post_filter->nominated},
                         {"victims", json::value_from(record.post_filter->victims)}};
  if (record.compat) {
    json::array scores;
    for (const auto& [node, score] : record.compat->scores)
      scores.push_back({{"node", node}, {"score", score}});
    out["compat"] = {{"total", record.compat->total}, {"scores", std::move(scores)}};
  }
  out["notes"] = json::value_from(record.notes);
  return out;
}

std::string image_size_text(std::int64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits{"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.3g} {}", value, kUnits[unit]);
}

}  // namespace plim::sched
