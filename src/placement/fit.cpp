// NodeResourcesFit: whether a pod's requests fit. fit_score.cpp has its score.
#include "placement/fit.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "placement/plugins.hpp"

namespace plim::placement {
namespace {

bool is_ignored(const FitArgs& args, std::string_view name) {
  if (!is_extended_resource(name)) return false;
  std::string_view group = name.substr(0, name.find('/'));
  return std::ranges::find(args.ignored_resources, name) != args.ignored_resources.end() ||
         std::ranges::find(args.ignored_groups, group) != args.ignored_groups.end();
}

class FitFilter final : public FilterOf<FitFilter> {
 public:
  explicit FitFilter(Cycle& cycle)
      : resources_(cycle.cluster.table().resources()),
        verdicts_(cycle.verdicts),
        wanted_(needed_resources(cycle.in.requests, cycle.profile.fit, cycle.cluster.table())) {}

  Verdict judge(NodeIndex row) {
    std::uint64_t lacking = resources_.pods()[row] + 1 > resources_.pod_limit()[row] ? 1 : 0;
    bool never = false;
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      auto [id, amount] = wanted_[i];
      std::int64_t whole = resources_.allocatable(id)[row];
      if (amount <= whole - resources_.requested(id)[row]) continue;
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
            fmt::format("Insufficient {}", resources_.names().name(wanted_[i].first)));
    return at->second = verdicts_.id_of(std::move(entry));
  }

  const NodeResources& resources_;
  Verdicts& verdicts_;
  std::vector<std::pair<ResourceId, std::int64_t>> wanted_;
  std::map<std::pair<std::uint64_t, bool>, Verdict> known_;
};

}  // namespace

std::vector<std::pair<ResourceId, std::int64_t>> needed_resources(const PodRequests& requests,
                                                                  const FitArgs& args,
                                                                  const NodeTable& table) {
  std::vector<std::pair<ResourceId, std::int64_t>> out;
  for (ResourceId id = 0; id < kFirstScalar; ++id)
    if (requests.basic[id] > 0) out.emplace_back(id, requests.basic[id]);
  for (const auto& [id, amount] : requests.scalars)
    if (amount != 0 && !is_ignored(args, table.resources().names().name(id)))
      out.emplace_back(id, amount);
  return out;
}

std::unique_ptr<Filter> make_fit_filter(Cycle& cycle) {
  return std::make_unique<FitFilter>(cycle);
}

}  // namespace plim::placement
