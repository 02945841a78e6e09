#include "placement/search.hpp"

#include <algorithm>
#include <span>

#include "placement/decision_times.hpp"
#include "placement/node_class.hpp"
#include "placement/plugin_table.hpp"

namespace plim::placement {
namespace {

// Filters that do not need their PreFilter step run also if they are not in the preFilter list.
bool is_filter_only(const Plugin& plugin) {
  return plugin.points.has(Point::Filter) &&
         (plugin.filters_alone || !plugin.points.has(Point::PreFilter));
}

std::unique_ptr<Filter> make_filter(const Plugin& plugin, Cycle& cycle) {
  return plugin.make_filter == nullptr ? nullptr : plugin.make_filter(cycle);
}

}  // namespace

bool Search::prepare() {
  const DecisionTimes::Watch watch(cycle_.times, DecisionTimes::Step::pre_filter);
  std::optional<PreFilterFailure> remembered;
  std::vector<FilterStep> made;
  auto is_filter = [&](PluginId plugin) {
    return std::ranges::find(cycle_.profile.filter, plugin) != cycle_.profile.filter.end();
  };
  for (PluginId plugin : cycle_.profile.pre_filter) {
    auto filter = prepare_plugin(plugin);
    if (cycle_.failure) {
      // If preemption may help, the other filters are still prepared for it.
      if (cycle_.failure->code != RejectCode::unschedulable) return false;
      remembered = std::exchange(cycle_.failure, std::nullopt);
    }
    if (filter && is_filter(plugin)) made.push_back({plugin, std::move(filter)});
  }
  bool in_class = true;  // the first filter that rejects a node decides, so order matters
  for (PluginId plugin : cycle_.profile.filter) {
    const Plugin& row = plugin_row(plugin);
    auto known = std::ranges::find(made, plugin, &FilterStep::plugin);
    std::unique_ptr<Filter> filter;
    if (known != made.end())
      filter = std::move(known->filter);
    else if (is_filter_only(row))
      filter = make_filter(row, cycle_);
    in_class = in_class && row.filter_reads == Reads::row;
    if (!filter) continue;
    steps_.push_back({plugin, std::move(filter)});
    if (in_class) by_row_ = steps_.size();
  }
  if (auto images = make_filter(plugin_row(PluginId::ImageLocality), cycle_))
    steps_.push_back({PluginId::ImageLocality, std::move(images)});
  cycle_.failure = std::move(remembered);
  return !cycle_.failure;
}

std::unique_ptr<Filter> Search::prepare_plugin(PluginId plugin) {
  const DecisionTimes::PluginWatch watch(cycle_.times, DecisionTimes::Step::pre_filter, plugin);
  return make_filter(plugin_row(plugin), cycle_);
}

void Search::run() {
  const DecisionTimes::Watch watch(cycle_.times, DecisionTimes::Step::filter);
  cycle_.alike->sieve(cycle_, std::span(steps_).first(by_row_));
  verdicts = cycle_.alike->verdict();
  feasible.clear();
  if (cycle_.cluster.nominations().size() != 0)
    look_at(cycle_.cluster.table().live());
  else
    judge_rest(cycle_.alike->fitting(), {});
}

std::size_t Search::run_until(std::size_t enough, const std::vector<NodeIndex>& order,
                              std::size_t start) {
  const DecisionTimes::Watch watch(cycle_.times, DecisionTimes::Step::filter);
  cycle_.alike->sieve(cycle_, std::span(steps_).first(by_row_));
  verdicts.assign(cycle_.cluster.table().rows(), kFits);
  feasible.clear();
  auto row_at = [&](std::size_t at) { return order[(start + at) % order.size()]; };
  // Doubles the number of nodes each time, so that filters are called a few times only.
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
  const std::vector<Verdict>& known = cycle_.alike->verdict();
  std::vector<NodeIndex> with_nominated;
  std::erase_if(rows, [&](NodeIndex row) {
    if (cycle_.is_named(row) && has_nominated(row)) {
      with_nominated.push_back(row);
      return true;
    }
    verdicts[row] = known[row];
    return known[row] != kFits;
  });
  judge_rest(std::move(rows), with_nominated);
}

// Runs the filters whose verdicts the class does not cache.
void Search::judge_rest(std::vector<NodeIndex> rows, const std::vector<NodeIndex>& with_nominated) {
  for (FilterStep& step : std::span(steps_).subspan(by_row_)) {
    const DecisionTimes::PluginWatch one(cycle_.times, DecisionTimes::Step::filter, step.plugin);
    step.filter->sieve(rows, verdicts);
  }
  for (NodeIndex row : with_nominated) {
    verdicts[row] = check(row);
    if (verdicts[row] == kFits) rows.push_back(row);
  }
  if (feasible.empty())
    feasible = std::move(rows);
  else
    feasible.insert(feasible.end(), rows.begin(), rows.end());
  if (!with_nominated.empty()) std::ranges::sort(feasible);
}

Verdict Search::check(NodeIndex row) {
  std::vector<const PodRecord*> added;
  for (const auto& nominated : cycle_.cluster.nominations().on(row))
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
  for (FilterStep& step : steps_)
    if (Verdict verdict = step.filter->check(row); verdict != kFits) return verdict;
  return kFits;
}

std::string Search::describe(PluginId plugin, NodeIndex row) const {
  const auto step = std::ranges::find(steps_, plugin, &FilterStep::plugin);
  return step == steps_.end() ? "" : step->filter->describe(row);
}

void Search::imagine(const PodRecord& record, NodeIndex row, int sign) {
  cycle_.cluster.imagine(record, row, sign);
  for (FilterStep& step : steps_) step.filter->pod_moved(record, row, sign);
}

bool Search::must_yield(const PodRecord& nominated) const {
  return nominated.pod->spec.priority >= cycle_.in.pod.spec.priority &&
         pod_key(*nominated.pod) != cycle_.in.key;
}

bool Search::has_nominated(NodeIndex row) const {
  return std::ranges::any_of(cycle_.cluster.nominations().on(row),
                             [&](const auto& nominated) { return must_yield(*nominated); });
}

}  // namespace plim::placement
