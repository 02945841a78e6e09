#include "placement/preempt.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "placement/engine.hpp"
#include "placement/message.hpp"
#include "placement/search.hpp"

namespace plim::placement {
namespace {

WallTime start_of(const kube::Pod& pod, WallTime now) {
  return pod.status.started.value_or(now);
}

bool more_important(const kube::Pod& a, const kube::Pod& b, WallTime now) {
  if (a.spec.priority != b.spec.priority) return a.spec.priority > b.spec.priority;
  if (start_of(a, now) != start_of(b, now)) return start_of(a, now) < start_of(b, now);
  return a.meta.name < b.meta.name;  // kube-scheduler does not define the order
}

bool is_leaving_for_another(const kube::Pod& pod) {
  if (!pod.meta.deleted) return false;
  for (const kube::Condition& condition : pod.status.conditions)
    if (condition.type == "DisruptionTarget")
      return condition.status == "True" && condition.reason == "PreemptionByScheduler";
  return false;
}

// From the pod's status; right after a nomination only the tables have it.
std::string_view nominated_node_of(const Cycle& cycle) {
  const std::string_view said = cycle.in.pod.status.nominated_node;
  return said.empty() ? cycle.cluster.nominated_node(cycle.in.key) : said;
}

// Why a pod may not preempt others, "" if it may.
std::string why_not_eligible(const Cycle& cycle, std::optional<RejectCode> nominated_code) {
  const kube::Pod& pod = cycle.in.pod;
  if (pod.spec.preemption_policy == "Never") return "not eligible due to preemptionPolicy=Never.";
  const std::string_view nominated = nominated_node_of(cycle);
  if (nominated.empty() || nominated_code == RejectCode::unresolvable) return "";
  auto row = cycle.cluster.table().find(nominated);
  if (!row) return "";
  for (const auto& there : cycle.cluster.pods().on(*row))
    if (there->pod->spec.priority < pod.spec.priority && is_leaving_for_another(*there->pod))
      return "not eligible due to a terminating pod on the nominated node.";
  return "";
}

// Splits the victims in their order into those whose eviction the budgets allow and the others.
class BudgetSplit {
 public:
  BudgetSplit(const std::vector<const PodRecord*>& victims,
              std::span<const DisruptionBudget> budgets, const Release& release)
      : stops_at_first_(release.stops_at_first_budget()) {
    for (const DisruptionBudget& budget : budgets) allowed_.push_back(budget.allowed);
    for (const PodRecord* victim : victims)
      (violates(*victim->pod, budgets) ? violating : others).push_back(victim);
  }

  std::vector<const PodRecord*> violating, others;

 private:
  bool violates(const kube::Pod& pod, std::span<const DisruptionBudget> budgets) {
    if (pod.meta.labels.empty()) return false;
    bool out = false;
    for (std::size_t i = 0; i < budgets.size(); ++i) {
      const DisruptionBudget& budget = budgets[i];
      if (budget.ns != pod.meta.ns.view() || budget.selector == kube::LabelSelector::everything() ||
          !budget.selector.matches(pod.meta.labels) ||
          std::ranges::find(budget.disrupted, pod.meta.name) != budget.disrupted.end())
        continue;
      out = --allowed_[i] < 0 || out;
      if (out && stops_at_first_) break;
    }
    return out;
  }

  bool stops_at_first_;
  std::vector<std::int64_t> allowed_;
};

// Tries one node: removes pods in imagination and adds them again, so that the tables are unchanged
// at the end.
class NodeTrial {
 public:
  NodeTrial(Cycle& cycle, Search& search, NodeIndex row, WallTime now)
      : cycle_(cycle), search_(search), row_(row), now_(now) {}

  // Returns the candidate, or sets the reasons why removing pods does not help.
  std::optional<PreemptionCandidate> run(std::span<const DisruptionBudget> budgets,
                                         std::vector<std::string>& reasons) {
    for (const auto& there : cycle_.cluster.pods().on(row_))
      if (there->pod->spec.priority < cycle_.in.pod.spec.priority) away_.push_back(there.get());
    if (away_.empty()) {
      reasons = {"No preemption victims found for incoming pod"};
      return std::nullopt;
    }
    for (const PodRecord* one : away_) search_.imagine(*one, row_, -1);
    Verdict verdict = search_.check(row_);
    std::optional<PreemptionCandidate> out;
    if (verdict == kFits)
      out = spare_the_most(budgets);
    else
      reasons = cycle_.verdicts.at(verdict).reasons;
    for (const PodRecord* one : away_) search_.imagine(*one, row_, 1);
    return out;
  }

 private:
  PreemptionCandidate spare_the_most(std::span<const DisruptionBudget> budgets) {
    auto important = [&](const PodRecord* a, const PodRecord* b) {
      return more_important(*a->pod, *b->pod, now_);
    };
    std::vector<const PodRecord*> order = away_;
    std::ranges::sort(order, important);
    BudgetSplit split(order, budgets, cycle_.profile.release);
    PreemptionCandidate out{.node = cycle_.cluster.table().name(row_), .victims = {}};
    std::vector<const PodRecord*> victims;
    for (const PodRecord* one : split.violating)
      if (!spare(one)) {
        victims.push_back(one);
        ++out.budget_violations;
      }
    for (const PodRecord* one : split.others)
      if (!spare(one)) victims.push_back(one);
    std::ranges::sort(victims, important);
    for (const PodRecord* one : victims) out.victims.push_back(one->pod);
    return out;
  }

  bool spare(const PodRecord* one) {
    search_.imagine(*one, row_, 1);
    if (search_.check(row_) != kFits) {
      search_.imagine(*one, row_, -1);
      return false;
    }
    std::erase(away_, one);
    return true;
  }

  Cycle& cycle_;
  Search& search_;
  NodeIndex row_;
  WallTime now_;
  std::vector<const PodRecord*> away_;  // removed in imagination now
};

std::vector<NodeIndex> nodes_to_try(const Cycle& cycle, const Decision& decision) {
  if (decision.pre_filter_code)
    return decision.pre_filter_code == RejectCode::unschedulable ? cycle.cluster.table().live()
                                                                 : std::vector<NodeIndex>();
  std::vector<NodeIndex> out;
  for (const Rejection& rejection : decision.rejections)
    if (rejection.code == RejectCode::unschedulable)
      out.insert(out.end(), rejection.nodes.begin(), rejection.nodes.end());
  std::ranges::sort(out);
  return out;
}

std::optional<RejectCode> code_of(const Cycle& cycle, const Decision& decision,
                                  std::string_view node) {
  if (decision.pre_filter_code) return decision.pre_filter_code;
  auto row = cycle.cluster.table().find(node);
  for (const Rejection& rejection : decision.rejections)
    if (row && std::ranges::binary_search(rejection.nodes, *row)) return rejection.code;
  return std::nullopt;
}

std::size_t enough_candidates(const PreemptionArgs& args, std::size_t nodes) {
  auto share =
      nodes * static_cast<std::size_t>(std::max<std::int64_t>(args.min_percentage, 0)) / 100;
  auto least = static_cast<std::size_t>(std::max<std::int64_t>(args.min_absolute, 0));
  return std::min(nodes, std::max(share, least));
}

}  // namespace

std::optional<std::size_t> best_candidate(std::span<const PreemptionCandidate> candidates,
                                          WallTime now) {
  constexpr std::int64_t kShift = std::int64_t{1} << 31;  // makes every priority positive
  auto cost = [&](const PreemptionCandidate& one) {
    std::int64_t highest = one.victims.front()->spec.priority, sum = 0;
    WallTime earliest = WallTime::max();
    for (const PodPointer& victim : one.victims) highest = std::max(highest, victim->spec.priority);
    for (const PodPointer& victim : one.victims) {
      sum += victim->spec.priority + kShift;
      if (victim->spec.priority == highest) earliest = std::min(earliest, start_of(*victim, now));
    }
    return std::tuple(one.budget_violations, highest, sum, one.victims.size(),
                      -earliest.time_since_epoch().count(), std::string_view(one.node));
  };
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].victims.empty()) continue;
    if (!best || cost(candidates[i]) < cost(candidates[*best])) best = i;
  }
  return best;
}

Preemption Engine::preempt(const kube::Pod& pod, const Profile& profile, const Decision& decision,
                           std::span<const DisruptionBudget> budgets,
                           const PreemptionOptions& options) {
  Incoming in(pod, cluster_);
  cluster_.table().resources().make_columns();
  Verdicts verdicts;
  Cycle cycle{
      .cluster = cluster_, .in = in, .profile = profile, .verdicts = verdicts, .now = options.now};
  Preemption out;
  auto why = why_not_eligible(cycle, code_of(cycle, decision, nominated_node_of(cycle)));
  if (!why.empty()) {
    out.message = fmt::format("preemption: {}", why);
    return out;
  }
  std::vector<NodeIndex> rows = nodes_to_try(cycle, decision);
  Search search(cycle);
  search.prepare();
  const std::size_t enough = enough_candidates(profile.preemption, rows.size());
  std::vector<Rejection> reasons;
  std::size_t harmless = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    NodeIndex row = rows[(options.draw + i) % rows.size()];
    std::vector<std::string> why_not;
    if (auto found = NodeTrial(cycle, search, row, options.now).run(budgets, why_not)) {
      if (found->victims.empty()) continue;
      if (found->budget_violations == 0) ++harmless;
      out.candidates.push_back(std::move(*found));
      if (harmless > 0 && out.candidates.size() >= enough) break;
    } else {
      reasons.push_back({.plugin = {}, .reasons = std::move(why_not), .nodes = {row}});
    }
  }
  out.best = best_candidate(out.candidates, options.now);
  if (out.best) return out;
  Rejection hopeless{
      .plugin = {}, .reasons = {"Preemption is not helpful for scheduling"}, .nodes = {}};
  hopeless.nodes.resize(cluster_.table().live().size() - reasons.size());
  if (!hopeless.nodes.empty()) reasons.push_back(std::move(hopeless));
  out.message =
      fmt::format("preemption: {}", unavailable_message(cluster_.table().live().size(), reasons));
  out.clear_nomination = true;
  return out;
}

std::vector<PodPointer> nominated_below(const Engine& engine, const kube::Pod& pod,
                                        std::string_view node) {
  std::vector<PodPointer> out;
  auto row = engine.cluster().table().find(node);
  if (!row) return out;
  for (const auto& nominated : engine.cluster().nominations().on(*row))
    if (nominated->pod->spec.priority < pod.spec.priority) out.push_back(nominated->pod);
  return out;
}

}  // namespace plim::placement
