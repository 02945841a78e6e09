#include <algorithm>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "placement/decision_times.hpp"
#include "placement/engine.hpp"
#include "placement/locality.hpp"
#include "placement/message.hpp"
#include "placement/node_class.hpp"
#include "placement/plugin_table.hpp"
#include "placement/search.hpp"

namespace plim::placement {
namespace {

// How many feasible nodes are enough: kube-scheduler's rule, but the default is all nodes.
std::size_t enough_nodes(std::int64_t percentage, std::size_t nodes) {
  constexpr std::size_t kAtLeast = 100;
  if (percentage <= 0 || percentage >= 100 || nodes < kAtLeast) return nodes;
  return std::max(kAtLeast, nodes * static_cast<std::size_t>(percentage) / 100);
}

// Removes the feasible nodes that extenders have rejected or were not asked about.
void apply_extenders(Cycle& cycle, Search& search, const ExtenderAnswers& answers, Decision& out) {
  const NodeTable& table = cycle.cluster.table();
  for (const ExtenderRejection& one : answers.rejections) {
    auto row = table.find(one.node);
    if (!row || search.verdicts[*row] != kFits) continue;
    Verdicts::Entry entry{.plugin = std::nullopt, .code = one.code};
    if (!one.reason.empty()) entry.reasons.push_back(one.reason);
    search.verdicts[*row] = cycle.verdicts.id_of(std::move(entry));
  }
  std::erase_if(search.feasible, [&](NodeIndex row) {
    if (search.verdicts[row] != kFits) return true;
    const bool passed = std::ranges::binary_search(answers.passed, table.name(row));
    if (!passed) ++out.unasked;
    return !passed;
  });
}

// Sorts by the order in which plugins run, then by the first rejected node.
void sort_rejections(const Profile& profile, std::vector<Rejection>& rejections) {
  auto order = [&](const Rejection& one) {
    const auto at =
        one.plugin ? std::ranges::find(profile.filter, *one.plugin) : profile.filter.end();
    return std::tuple(!one.plugin, at - profile.filter.begin(), one.nodes.front());
  };
  std::ranges::sort(rejections, {}, order);
}

void describe_rejections(const Cycle& cycle, const Search& search, std::size_t named,
                         Decision& out) {
  if (search.feasible.size() == out.total_nodes) return;
  out.rejections.resize(cycle.verdicts.size());
  for (NodeIndex row : cycle.cluster.table().live())
    if (Verdict verdict = search.verdicts[row]; verdict != kFits)
      out.rejections[verdict - 1u].nodes.push_back(row);
  for (std::size_t i = 0; i < cycle.verdicts.size(); ++i) {
    const Verdicts::Entry& entry = cycle.verdicts.at(static_cast<Verdict>(i + 1));
    Rejection& made = out.rejections[i];
    made.plugin = entry.plugin;
    made.code = entry.code;
    made.reasons = entry.reasons;
  }
  std::erase_if(out.rejections, [](const Rejection& one) { return one.nodes.empty(); });
  sort_rejections(cycle.profile, out.rejections);
  for (Rejection& made : out.rejections) {
    for (NodeIndex row : std::span(made.nodes).first(std::min(named, made.nodes.size())))
      made.details.push_back(made.plugin ? search.describe(*made.plugin, row) : "");
    if (!made.plugin)
      out.rejected_by_extender = true;
    else if (std::ranges::find(out.rejecting_plugins, *made.plugin) == out.rejecting_plugins.end())
      out.rejecting_plugins.push_back(*made.plugin);
  }
}

Decision refused_early(const PreFilterFailure& failure, Decision out) {
  out.rejecting_plugins.push_back(failure.plugin);
  out.pre_filter_code = failure.code;
  if (!failure.code) {
    out.outcome = Decision::Outcome::error;
    out.message = fmt::format("running PreFilter plugin \"{}\": {}", name_of(failure.plugin),
                              failure.message);
    return out;
  }
  out.outcome = Decision::Outcome::unschedulable;
  out.pre_filter_message = failure.message;
  out.message = fmt::format("0/{} nodes are available: {}.", out.total_nodes, failure.message);
  return out;
}

// As a plugin's column: 0 for nodes that the extender did not score.
struct ExtenderColumn {
  const ExtenderScores* of = nullptr;
  std::vector<std::int64_t> raw;

  // The highest score is 10 for extenders and 100 for plugins.
  std::int64_t weighted(std::size_t at) const { return raw[at] * of->weight * 10; }
};

ExtenderColumn extender_column(const Cycle& cycle, const std::vector<NodeIndex>& rows,
                               const ExtenderScores& scores) {
  ExtenderColumn out{.of = &scores, .raw = std::vector<std::int64_t>(rows.size(), 0)};
  for (const auto& [node, score] : scores.nodes) {
    auto row = cycle.cluster.table().find(node);
    auto at = row ? std::ranges::lower_bound(rows, *row) : rows.end();
    if (at != rows.end() && *at == *row)
      out.raw[static_cast<std::size_t>(at - rows.begin())] += score;
  }
  return out;
}

// Totals over all plugins, by feasible node.
struct Scores {
  std::vector<ScoreColumn> columns;  // in the order of the profile; without numbers if by_class
  std::vector<ExtenderColumn> extenders;
  std::vector<std::int64_t> totals;  // without `flat`
  std::int64_t flat = 0;             // what all nodes get
  bool by_class = false;             // scores that depend on the row only come from the class

  bool is_summed(const ScoreColumn& column) const {
    return by_class && plugin_row(column.plugin).score_reads != Reads::cluster;
  }
};

// False if the plugin of the column does not apply to this pod.
bool score_rows(Cycle& cycle, const std::vector<NodeIndex>& rows, ScoreColumn& column) {
  const Plugin& plugin = plugin_row(column.plugin);
  return plugin.score != nullptr && plugin.score(cycle, rows, column);
}

Error invalid_score(const ScoreColumn& column) {
  const auto one = std::ranges::find_if(
      column.normalized, [](std::int64_t score) { return score < 0 || score > 100; });
  return fail(Code::internal, fmt::format("plugin \"{}\" returns an invalid score {}, it should in "
                                          "the range of [0, 100] after normalizing",
                                          name_of(column.plugin), *one));
}

// Takes the totals that the pod's class has cached; false if a score is outside of 0 to 100.
bool take_totals(Cycle& cycle, const std::vector<NodeIndex>& rows,
                 std::vector<std::int64_t>& totals) {
  const std::vector<std::int64_t>& known = cycle.alike->totals(cycle);
  std::int64_t all = 0;
  if (rows.size() == known.size()) {
    totals = known;
    for (std::int64_t one : totals) all |= one;
  } else {
    totals.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) all |= totals[i] = known[rows[i]];
  }
  return all >= 0;  // kOdd is negative
}

// Adds the column to the totals; false if a score is outside of 0 to 100.
bool add_column(const ScoreColumn& column, Scores& to) {
  std::int64_t wrong = 0;  // negative if a score is out of range
  if (column.flat && column.normalized.empty()) return true;
  if (column.flat) {
    const std::int64_t one = column.normalized[0];
    wrong = one | (100 - one);
    to.flat += one * column.weight;
  }
  for (std::size_t i = 0; i < to.totals.size() && !column.flat; ++i) {
    const std::int64_t one = column.normalized[i];
    wrong |= one | (100 - one);
    to.totals[i] += one * column.weight;
  }
  return wrong >= 0;
}

Result<Scores> score_all(Cycle& cycle, const std::vector<NodeIndex>& rows,
                         const DecideOptions& options) {
  const DecisionTimes::Watch watch(cycle.times, DecisionTimes::Step::score);
  Scores out;
  out.by_class = take_totals(cycle, rows, out.totals);
  if (!out.by_class) std::ranges::fill(out.totals, 0);
  for (const WeightedPlugin& plugin : cycle.profile.score) {
    ScoreColumn column{
        .plugin = plugin.plugin, .weight = plugin.weight, .raw = {}, .normalized = {}};
    {
      const DecisionTimes::PluginWatch one(cycle.times, DecisionTimes::Step::score, plugin.plugin);
      const bool summed = out.is_summed(column);
      if (!summed && !score_rows(cycle, rows, column)) continue;
      if (!summed && !add_column(column, out)) return invalid_score(column);
    }
    out.columns.push_back(std::move(column));
  }
  if (cycle.profile.score.empty() && !options.any_extender) out.flat = 1;
  if (options.extenders != nullptr)
    for (const ExtenderScores& extender : options.extenders->scores)
      out.extenders.push_back(extender_column(cycle, rows, extender));
  for (const ExtenderColumn& column : out.extenders)
    for (std::size_t i = 0; i < rows.size(); ++i) out.totals[i] += column.weighted(i);
  return out;
}

// Indexes in `rows` of the best nodes. The chosen one comes first, also before nodes with the same
// total whose names sort before it.
std::vector<std::size_t> best_places(const NodeTable& table, const std::vector<NodeIndex>& rows,
                                     const std::vector<std::int64_t>& totals, NodeIndex chosen,
                                     std::size_t limit) {
  struct Candidate {
    std::int64_t total = 0;
    std::uint32_t rank = 0, at = 0;
  };

  const auto better = [](const Candidate& a, const Candidate& b) {
    return a.total != b.total ? a.total > b.total : a.rank < b.rank;
  };
  const std::vector<std::uint32_t>& ranks = table.name_ranks();
  std::vector<Candidate> best;  // a heap with the worst of them at the front
  for (std::uint32_t at = 0; at < rows.size(); ++at) {
    const Candidate one{totals[at], rows[at] == chosen ? 0 : ranks[rows[at]] + 1, at};
    if (best.size() >= limit) {
      if (!better(one, best.front())) continue;
      std::ranges::pop_heap(best, better);
      best.pop_back();
    }
    best.push_back(one);
    std::ranges::push_heap(best, better);
  }
  std::ranges::sort_heap(best, better);
  std::vector<std::size_t> out;
  out.reserve(best.size());
  for (const Candidate& one : best) out.push_back(one.at);
  return out;
}

void describe_rows(Cycle& cycle, const std::vector<NodeIndex>& rows, const Scores& scores,
                   NodeIndex chosen, std::size_t limit, Decision& out) {
  if (limit == 0) return;
  const NodeTable& table = cycle.cluster.table();
  const ImageView& view = cycle.image_view();
  const std::vector<std::size_t> best = best_places(table, rows, scores.totals, chosen, limit);
  std::vector<NodeIndex> best_rows;
  for (std::size_t at : best) best_rows.push_back(rows[at]);
  out.rows.reserve(best.size());
  for (std::size_t at : best) {
    ScoredNode& made = out.rows.emplace_back();
    made.node = table.name(rows[at]);
    made.total = scores.totals[at] + scores.flat;
    made.missing_bytes = view.missing(rows[at]);
    made.images = images_known(cycle, view, rows[at]);
    made.scores.reserve(scores.columns.size());
    for (const ExtenderColumn& column : scores.extenders)
      made.extenders.push_back(
          {column.of->extender, column.of->weight, column.raw[at], column.weighted(at)});
  }
  for (const ScoreColumn& column : scores.columns) {
    if (!scores.is_summed(column)) {
      for (std::size_t i = 0; i < best.size(); ++i)
        out.rows[i].scores.push_back(column.at(best[i]));
      continue;
    }
    // The class has only the sum, so the rows that are shown are scored again.
    ScoreColumn again{
        .plugin = column.plugin, .weight = column.weight, .raw = {}, .normalized = {}};
    if (!score_rows(cycle, best_rows, again)) continue;
    for (std::size_t i = 0; i < best.size(); ++i) out.rows[i].scores.push_back(again.at(i));
  }
}

// Keeps the rows that miss the fewest bytes.
void keep_nearest(const ImageView& view, std::vector<NodeIndex>& rows) {
  std::int64_t most = 0;
  std::size_t kept = 0;
  for (NodeIndex row : rows) {
    if (view.have[row] > most) {
      most = view.have[row];
      kept = 0;
    }
    if (view.have[row] == most) rows[kept++] = row;
  }
  rows.resize(kept);
}

// Chooses among nodes with the same total.
NodeIndex break_tie(Cycle& cycle, std::vector<NodeIndex> equals, const DecideOptions& options,
                    Decision& out) {
  out.tie_size = equals.size();
  if (equals.size() == 1) return equals[0];
  if (cycle.profile.locality.tie_break == TieBreak::First) {
    out.tie_rule = TieRule::first;
    const NodeTable& table = cycle.cluster.table();
    return *std::ranges::min_element(equals, {}, [&](NodeIndex row) { return table.name(row); });
  }
  out.tie_rule = TieRule::random;
  if (cycle.profile.locality.tie_break == TieBreak::Locality) {
    const std::size_t before = equals.size();
    keep_nearest(cycle.image_view(), equals);
    if (equals.size() < before) out.tie_rule = TieRule::locality;
  }
  return equals[options.draw % equals.size()];
}

void choose(Cycle& cycle, const std::vector<NodeIndex>& rows, const DecideOptions& options,
            Decision& out) {
  const NodeTable& table = cycle.cluster.table();
  if (rows.size() == 1) {
    out.outcome = Decision::Outcome::single_feasible;
    out.node = table.name(rows[0]);
    out.image_bytes = cycle.image_view().need;
    out.missing_bytes = cycle.image_view().missing(rows[0]);
    return;
  }
  auto scores = score_all(cycle, rows, options);
  if (!scores) {
    out.outcome = Decision::Outcome::error;
    out.message = scores.error().message;
    return;
  }
  const std::int64_t most = std::ranges::max(scores->totals);
  std::vector<NodeIndex> equals;
  equals.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (scores->totals[i] == most) equals.push_back(rows[i]);
  out.outcome = Decision::Outcome::chosen;
  out.total = most + scores->flat;
  NodeIndex best_row = break_tie(cycle, std::move(equals), options, out);
  out.node = table.name(best_row);
  out.image_bytes = cycle.image_view().need;
  out.missing_bytes = cycle.image_view().missing(best_row);
  describe_rows(cycle, rows, *scores, best_row, options.rows, out);
}

// A node that was emptied for this pod is likely the only one that fits.
void try_nominated(Cycle& cycle, Search& search, const DecideOptions& options, Decision& out) {
  const NodeTable& table = cycle.cluster.table();
  const auto nominated = table.find(cycle.in.pod.status.nominated_node);
  if (!nominated || search.check(*nominated) != kFits) return;
  search.verdicts.assign(table.rows(), kFits);
  search.feasible = {*nominated};
  out.looked_at = 1;
  out.by_nomination = true;
  if (options.extenders != nullptr) apply_extenders(cycle, search, *options.extenders, out);
}

}  // namespace

Decision Engine::decide(const kube::Pod& pod, const Profile& profile,
                        const DecideOptions& options) {
  NodeTable& table = cluster_.table();
  Incoming in(pod, cluster_);
  table.resources().make_columns();
  NodeClass& alike = classes_.of(in, profile, cluster_);
  Cycle cycle{.cluster = cluster_,
              .in = in,
              .profile = profile,
              .verdicts = alike.verdicts,
              .now = options.now,
              .times = options.times,
              .alike = &alike};
  Decision out;
  out.total_nodes = table.live().size();
  if (out.total_nodes == 0) {
    out.outcome = Decision::Outcome::unschedulable;
    out.message = "no nodes available to schedule pods";
    return out;
  }
  Search search(cycle);
  if (!search.prepare()) return refused_early(*cycle.failure, std::move(out));

  if (!options.skip_nominated) try_nominated(cycle, search, options, out);
  if (search.feasible.empty()) {
    out.looked_at = out.total_nodes;
    out.by_nomination = false;
    out.unasked = 0;
    std::size_t enough = enough_nodes(profile.percentage_of_nodes, out.total_nodes);
    if (profile.score.empty() && !options.any_extender) enough = 1;
    if (options.extenders != nullptr) {
      search.run();
      apply_extenders(cycle, search, *options.extenders, out);
    } else if (enough < out.total_nodes) {
      out.looked_at = search.run_until(enough, sample_order_.get(table), next_start_);
    } else {
      search.run();
    }
    if (options.extenders == nullptr) next_start_ = (next_start_ + out.looked_at) % out.total_nodes;
  }
  out.feasible = search.feasible.size();
  if (options.rows > 0 || options.only_filter) out.feasible_nodes = search.feasible;
  if (options.rows > 0 || search.feasible.empty())
    describe_rejections(cycle, search, options.rows > 0 ? options.named : 0, out);
  if (search.feasible.empty()) {
    out.outcome = Decision::Outcome::unschedulable;
    out.message = unavailable_message(out.total_nodes, out.rejections);
    return out;
  }
  if (options.only_filter)
    out.outcome = Decision::Outcome::chosen;
  else
    choose(cycle, search.feasible, options, out);
  return out;
}

}  // namespace plim::placement
