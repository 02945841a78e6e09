// NodeResourcesFit: whether a pod's requests fit, and how full the node would be.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "sched/cycle.hpp"

namespace plim::sched {
namespace {

bool is_ignored(const FitArgs& args, std::string_view name) {
  if (!is_extended_resource(name)) return false;
  std::string_view group = name.substr(0, name.find('/'));
  return std::ranges::find(args.ignored_resources, name) != args.ignored_resources.end() ||
         std::ranges::find(args.ignored_groups, group) != args.ignored_groups.end();
}

class FitFilter final : public FilterOf<FitFilter> {
 public:
  explicit FitFilter(Cycle& cycle) : table_(cycle.cluster.table()), verdicts_(cycle.verdicts) {
    const PodRequests& wanted = cycle.in.requests;
    for (ResourceId id = 0; id < kFirstScalar; ++id)
      if (wanted.basic[id] > 0) wanted_.emplace_back(id, wanted.basic[id]);
    for (const auto& [id, amount] : wanted.scalars)
      if (amount != 0 && !is_ignored(cycle.profile.fit, table_.resources().name(id)))
        wanted_.emplace_back(id, amount);
  }

  Verdict judge(NodeIndex row) {
    std::uint64_t lacking = table_.pods()[row] + 1 > table_.pod_limit()[row] ? 1 : 0;
    bool never = false;
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      auto [id, amount] = wanted_[i];
      std::int64_t whole = table_.allocatable(id)[row];
      if (amount <= whole - table_.requested(id)[row]) continue;
      lacking |= std::uint64_t{2} << std::min<std::size_t>(i, 61);
      never = never || amount > whole;
    }
    return lacking == 0 ? kFits : verdict(lacking, never);
  }

 private:
  Verdict verdict(std::uint64_t lacking, bool never) {
    auto [at, is_new] = known_.try_emplace({lacking, never});
    if (!is_new) return at->second;
    Verdicts::Entry entry{.plugin = PluginId::NodeResourcesFit,
                          .code = never ? RejectCode::unresolvable : RejectCode::unschedulable};
    if (lacking & 1) entry.reasons.emplace_back("Too many pods");
    for (std::size_t i = 0; i < wanted_.size(); ++i)
      if (lacking >> (i + 1) & 1)
        entry.reasons.push_back(
            fmt::format("Insufficient {}", table_.resources().name(wanted_[i].first)));
    return at->second = verdicts_.id_of(std::move(entry));
  }

  const NodeTable& table_;
  Verdicts& verdicts_;
  std::vector<std::pair<ResourceId, std::int64_t>> wanted_;
  std::map<std::pair<std::uint64_t, bool>, Verdict> known_;
};

// One resource of a scoring strategy, its columns found once.
struct ScoredResource {
  const std::int64_t* allocatable = nullptr;
  const std::int64_t* requested = nullptr;
  std::int64_t wanted = 0, weight = 1;
};

enum class Requested : std::uint8_t { as_written, nonzero };

std::vector<ScoredResource> scored_resources(Cycle& cycle, const PodRequests& wanted,
                                             const std::vector<ResourceWeight>& resources,
                                             Requested which) {
  std::vector<ScoredResource> out;
  NodeTable& table = cycle.cluster.table();
  for (const ResourceWeight& one : resources) {
    ResourceId id = table.resources().find(one.name);
    if (id == kNoResource) continue;
    std::int64_t amount = wanted.of(id);
    if (id >= kFirstScalar && amount == 0) continue;
    ScoredResource made{table.allocatable(id), table.requested(id), amount, one.weight};
    if (which == Requested::nonzero && id == kCpu) made.requested = table.nonzero_cpu();
    if (which == Requested::nonzero && id == kMemory) made.requested = table.nonzero_memory();
    out.push_back(made);
  }
  return out;
}

// Weighted mean of how `one` judges each resource that the node has.
template <class One>
std::int64_t weighted_mean(const std::vector<ScoredResource>& resources, NodeIndex row, One one) {
  std::int64_t sum = 0, weights = 0;
  for (const ScoredResource& resource : resources) {
    std::int64_t whole = resource.allocatable[row];
    if (whole == 0) continue;
    sum += one(resource.requested[row] + resource.wanted, whole) * resource.weight;
    weights += resource.weight;
  }
  return weights == 0 ? 0 : sum / weights;
}

std::int64_t on_shape(const std::vector<ShapePoint>& shape, std::int64_t at) {
  constexpr std::int64_t kScale = 10;  // a shape's scores reach to 10, ours to 100
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (at > shape[i].utilization) continue;
    if (i == 0) return shape[0].score * kScale;
    const ShapePoint &from = shape[i - 1], &to = shape[i];
    return from.score * kScale + (to.score - from.score) * kScale * (at - from.utilization) /
                                     (to.utilization - from.utilization);
  }
  return shape.empty() ? 0 : shape.back().score * kScale;
}

std::int64_t by_shape(const std::vector<ScoredResource>& resources,
                      const std::vector<ShapePoint>& shape, NodeIndex row) {
  std::int64_t sum = 0, weights = 0;
  for (const ScoredResource& resource : resources) {
    std::int64_t whole = resource.allocatable[row];
    if (whole == 0) continue;
    std::int64_t used = resource.requested[row] + resource.wanted;
    std::int64_t one = on_shape(shape, used > whole ? 100 : used * 100 / whole);
    if (one <= 0) continue;
    sum += one * resource.weight;
    weights += resource.weight;
  }
  if (weights == 0) return 0;
  return std::llround(static_cast<double>(sum) / static_cast<double>(weights));
}

std::int64_t balance(const std::vector<ScoredResource>& resources, NodeIndex row,
                     std::vector<double>& fractions) {
  fractions.clear();
  double sum = 0;
  for (const ScoredResource& resource : resources) {
    std::int64_t whole = resource.allocatable[row];
    if (whole == 0) continue;
    std::int64_t used = resource.requested[row] + resource.wanted;
    double fraction = static_cast<double>(used) / static_cast<double>(whole);
    fractions.push_back(fraction > 1 ? 1 : fraction);
    sum += fractions.back();
  }
  double deviation = 0;
  const auto count = static_cast<double>(fractions.size());
  if (fractions.size() == 2) {
    deviation = std::abs((fractions[0] - fractions[1]) / 2);
  } else if (fractions.size() > 2) {
    double mean = sum / count, squares = 0;
    for (double fraction : fractions) squares += (fraction - mean) * (fraction - mean);
    deviation = std::sqrt(squares / count);
  }
  return static_cast<std::int64_t>((1 - deviation) * 100);
}

}  // namespace

std::unique_ptr<Filter> make_fit_filter(Cycle& cycle) {
  return std::make_unique<FitFilter>(cycle);
}

bool score_fit(Cycle& cycle, std::span<const NodeIndex> rows, ScoreColumn& out) {
  const FitArgs& args = cycle.profile.fit;
  auto resources = scored_resources(cycle, cycle.in.scored, args.resources, Requested::nonzero);
  auto least = [](std::int64_t used, std::int64_t whole) {
    return used > whole ? 0 : (whole - used) * 100 / whole;
  };
  auto most = [](std::int64_t used, std::int64_t whole) {
    return std::min(used, whole) * 100 / whole;
  };
  for (NodeIndex row : rows) {
    switch (args.strategy) {
      case FitStrategy::LeastAllocated:
        out.raw.push_back(weighted_mean(resources, row, least));
        break;
      case FitStrategy::MostAllocated:
        out.raw.push_back(weighted_mean(resources, row, most));
        break;
      case FitStrategy::RequestedToCapacityRatio:
        out.raw.push_back(by_shape(resources, args.shape, row));
        break;
    }
  }
  out.normalized = out.raw;
  return true;
}

bool score_balanced(Cycle& cycle, std::span<const NodeIndex> rows, ScoreColumn& out) {
  auto resources = scored_resources(cycle, cycle.in.requests, cycle.profile.balanced.resources,
                                    Requested::as_written);
  // A pod that asks for none of them would make every node look more balanced than it is.
  if (std::ranges::all_of(resources, [](const ScoredResource& one) { return one.wanted == 0; }))
    return false;
  std::vector<double> fractions;
  for (NodeIndex row : rows) out.raw.push_back(balance(resources, row, fractions));
  out.normalized = out.raw;
  return true;
}

}  // namespace plim::sched
