// NodeResourcesFit: whether a pod's requests fit, and how full the node would be.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sched/cycle.hpp"

namespace plim::sched {
namespace {

class FitFilter final : public FilterOf<FitFilter> {
 public:
  explicit FitFilter(Cycle& cycle)
      : cycle_(cycle),
        table_(cycle.cluster.table()),
        verdicts_(cycle.verdicts),
        wanted_(needed_resources(cycle.in.requests, cycle.profile.fit, table_)) {}

  void sieve(std::vector<NodeIndex>& rows, std::vector<Verdict>& verdicts) override {
    const FitColumns& columns = cycle_.fit_columns();
    std::erase_if(rows, [&](NodeIndex row) {
      if (columns.fits[row] != 0) return false;
      verdicts[row] = judge(row);
      return true;
    });
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

  Cycle& cycle_;
  const NodeTable& table_;
  Verdicts& verdicts_;
  std::vector<std::pair<ResourceId, std::int64_t>> wanted_;
  std::map<std::pair<std::uint64_t, bool>, Verdict> known_;
};

// Of all rows at once, if that is what is asked for.
void gather(const std::vector<std::int16_t>& column, std::span<const NodeIndex> rows,
            std::vector<std::int64_t>& out) {
  out.resize(rows.size());
  if (rows.size() == column.size())
    std::ranges::copy(column, out.begin());
  else
    for (std::size_t i = 0; i < rows.size(); ++i) out[i] = column[rows[i]];
}

}  // namespace

std::unique_ptr<Filter> make_fit_filter(Cycle& cycle) {
  return std::make_unique<FitFilter>(cycle);
}

bool score_fit(Cycle& cycle, std::span<const NodeIndex> rows, ScoreColumn& out) {
  gather(cycle.fit_columns().score, rows, out.raw);
  out.normalized = out.raw;
  return true;
}

bool score_balanced(Cycle& cycle, std::span<const NodeIndex> rows, ScoreColumn& out) {
  // A pod that asks for none of them would make every node look more balanced than it is.
  const ResourceNames& names = cycle.cluster.table().resources();
  auto asked = [&](const ResourceWeight& one) {
    ResourceId id = names.find(one.name);
    return id != kNoResource && cycle.in.requests.of(id) != 0;
  };
  if (std::ranges::none_of(cycle.profile.balanced.resources, asked)) return false;
  gather(cycle.fit_columns().balance, rows, out.raw);
  out.normalized = out.raw;
  return true;
}

}  // namespace plim::sched
