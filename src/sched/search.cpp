#include "sched/search.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sched/decision_times.hpp"

namespace plim::sched {
namespace {

// Filters that need nothing prepared, so that their place in the preFilter list does not exist.
bool is_filter_only(PluginId plugin) {
  return plugin == PluginId::NodeUnschedulable || plugin == PluginId::NodeName ||
         plugin == PluginId::TaintToleration;
}

}  // namespace

bool Search::prepare() {
  const DecisionTimes::Watch watch(cycle_.times, DecisionTimes::Step::pre_filter);
  std::optional<PreFilterFailure> remembered;
  std::vector<Step> made;
  auto is_filter = [&](PluginId plugin) {
    return std::ranges::find(cycle_.profile.filter, plugin) != cycle_.profile.filter.end();
  };
  for (PluginId plugin : cycle_.profile.pre_filter) {
    auto filter = prepare_plugin(plugin);
    if (cycle_.failure) {
      // One that preemption may cure lets the others prepare themselves for it.
      if (cycle_.failure->code != RejectCode::unschedulable) return false;
      remembered = std::exchange(cycle_.failure, std::nullopt);
    }
    if (filter && is_filter(plugin)) made.push_back({plugin, std::move(filter)});
  }
  for (PluginId plugin : cycle_.profile.filter) {
    auto known = std::ranges::find(made, plugin, &Step::plugin);
    std::unique_ptr<Filter> filter;
    if (known != made.end())
      filter = std::move(known->filter);
    else if (is_filter_only(plugin))
      filter = make_filter(plugin, cycle_);
    if (filter) steps_.push_back({plugin, std::move(filter)});
  }
  if (auto images = make_images_filter(cycle_))
    steps_.push_back({PluginId::ImageLocality, std::move(images)});
  cycle_.failure = std::move(remembered);
  return !cycle_.failure;
}

std::unique_ptr<Filter> Search::prepare_plugin(PluginId plugin) {
  const DecisionTimes::PluginWatch watch(cycle_.times, DecisionTimes::Step::pre_filter, plugin);
  return make_filter(plugin, cycle_);
}

void Search::run() {
  const NodeTable& table = cycle_.cluster.table();
  verdicts.assign(table.rows(), kFits);
  feasible.clear();
  look_at(table.live());
}

std::size_t Search::run_until(std::size_t enough, const std::vector<NodeIndex>& order,
                              std::size_t start) {
  verdicts.assign(cycle_.cluster.table().rows(), kFits);
  feasible.clear();
  auto row_at = [&](std::size_t at) { return order[(start + at) % order.size()]; };
  // Twice as many each time: filters are not called for a few nodes over and over.
  std::size_t seen = 0;
  for (std::size_t next = enough + 1; seen < order.size() && feasible.size() <= enough; next *= 2) {
    std::vector<NodeIndex> rows(std::min(next, order.size() - seen));
    for (NodeIndex& row : rows) row = row_at(seen++);
    look_at(std::move(rows));
  }
  if (feasible.size() > enough) {
    std::size_t found = 0, needed = 0;
    for (; found < enough; ++needed)
      if (verdicts[row_at(needed)] == kFits) feasible[found++] = row_at(needed);
    feasible.resize(enough);
    while (seen > needed) verdicts[row_at(--seen)] = kFits;
  }
  std::ranges::sort(feasible);
  return seen;
}

void Search::look_at(std::vector<NodeIndex> rows) {
  const DecisionTimes::Watch watch(cycle_.times, DecisionTimes::Step::filter);
  if (cycle_.only_nodes) refuse_unnamed(rows);
  std::vector<NodeIndex> with_nominated;
  if (cycle_.cluster.has_nominations()) {
    std::erase_if(rows, [&](NodeIndex row) {
      bool crowded = has_nominated(row);
      if (crowded) with_nominated.push_back(row);
      return crowded;
    });
  }
  for (Step& step : steps_) {
    const DecisionTimes::PluginWatch one(cycle_.times, DecisionTimes::Step::filter, step.plugin);
    step.filter->sieve(rows, verdicts);
  }
  for (NodeIndex row : with_nominated)
    if ((verdicts[row] = check(row)) == kFits) rows.push_back(row);
  if (feasible.empty())
    feasible = std::move(rows);
  else
    feasible.insert(feasible.end(), rows.begin(), rows.end());
  if (!with_nominated.empty()) std::ranges::sort(feasible);
}

Verdict Search::check(NodeIndex row) {
  std::vector<const PodRecord*> added;
  for (const auto& nominated : cycle_.cluster.nominated_on(row))
    if (must_yield(*nominated)) added.push_back(nominated.get());
  if (!added.empty()) {
    for (const PodRecord* record : added) imagine(*record, row, 1);
    Verdict crowded = check_as_is(row);
    for (const PodRecord* record : added) imagine(*record, row, -1);
    if (crowded != kFits) return crowded;
  }
  return check_as_is(row);
}

Verdict Search::check_as_is(NodeIndex row) {
  for (Step& step : steps_)
    if (Verdict verdict = step.filter->check(row); verdict != kFits) return verdict;
  return kFits;
}

std::string Search::describe(PluginId plugin, NodeIndex row) const {
  const auto step = std::ranges::find(steps_, plugin, &Step::plugin);
  return step == steps_.end() ? "" : step->filter->describe(row);
}

void Search::imagine(const PodRecord& record, NodeIndex row, int sign) {
  cycle_.cluster.imagine(record, row, sign);
  for (Step& step : steps_) step.filter->pod_moved(record, row, sign);
}

bool Search::must_yield(const PodRecord& nominated) const {
  return nominated.pod->spec.priority >= cycle_.in.pod.spec.priority &&
         pod_key(*nominated.pod) != cycle_.in.key;
}

bool Search::has_nominated(NodeIndex row) const {
  return std::ranges::any_of(cycle_.cluster.nominated_on(row),
                             [&](const auto& nominated) { return must_yield(*nominated); });
}

// A plugin has named the nodes that can do; all others are refused in its name.
void Search::refuse_unnamed(std::vector<NodeIndex>& rows) {
  const NodeTable& table = cycle_.cluster.table();
  Verdict refused = cycle_.verdicts.id_of(
      PluginId::NodeAffinity, RejectCode::unresolvable,
      fmt::format("node(s) didn't satisfy plugin(s) [{}]", name_of(PluginId::NodeAffinity)));
  std::erase_if(rows, [&](NodeIndex row) {
    bool named = std::ranges::binary_search(*cycle_.only_nodes, table.name(row));
    if (!named) verdicts[row] = refused;
    return !named;
  });
}

}  // namespace plim::sched
