// NodeUnschedulable, NodeName, TaintToleration and NodePorts.
#include <algorithm>
#include <span>
#include <vector>

#include "placement/plugins.hpp"

namespace plim::placement {
namespace {

class UnschedulableFilter final : public FilterOf<UnschedulableFilter> {
 public:
  explicit UnschedulableFilter(Cycle& cycle)
      : table_(cycle.cluster.table()),
        refused_(cycle.verdicts.id_of(PluginId::NodeUnschedulable, RejectCode::unresolvable,
                                      "node(s) were unschedulable")) {}

  void sieve(std::vector<NodeIndex>& rows, std::vector<Verdict>& verdicts) override {
    if (table_.any_unschedulable()) FilterOf::sieve(rows, verdicts);
  }

  Verdict judge(NodeIndex row) const { return table_.unschedulable(row) ? refused_ : kFits; }

 private:
  const NodeTable& table_;
  Verdict refused_;
};

class NodeNameFilter final : public FilterOf<NodeNameFilter> {
 public:
  explicit NodeNameFilter(Cycle& cycle)
      : table_(cycle.cluster.table()),
        wanted_(cycle.in.pod.spec.node_name.view()),
        refused_(cycle.verdicts.id_of(PluginId::NodeName, RejectCode::unresolvable,
                                      "node(s) didn't match the requested node name")) {}

  Verdict judge(NodeIndex row) const { return table_.name(row) == wanted_ ? kFits : refused_; }

 private:
  const NodeTable& table_;
  std::string_view wanted_;
  Verdict refused_;
};

bool keeps_pods_away(const kube::Taint& taint) {
  return taint.effect == "NoSchedule" || taint.effect == "NoExecute";
}

// Nodes share few sets of taints, so the pod is compared with each set once.
class TaintFilter final : public FilterOf<TaintFilter> {
 public:
  explicit TaintFilter(Cycle& cycle)
      : taints_(cycle.cluster.table().taints()),
        tolerations_(*cycle.in.tolerations),
        known_(taints_.sets().size(), kUnknown),
        refused_(cycle.verdicts.id_of(PluginId::TaintToleration, RejectCode::unresolvable,
                                      "node(s) had untolerated taint(s)")) {}

  void sieve(std::vector<NodeIndex>& rows, std::vector<Verdict>& verdicts) override {
    if (taints_.any()) FilterOf::sieve(rows, verdicts);
  }

  Verdict judge(NodeIndex row) {
    std::uint32_t set = taints_.set_of(row);
    if (set == 0) return kFits;
    if (known_[set] == kUnknown) known_[set] = judge_set(taints_.sets()[set]);
    return known_[set];
  }

 private:
  static constexpr Verdict kUnknown = 0xffff;

  Verdict judge_set(const std::vector<kube::Taint>& taints) const {
    bool away = std::ranges::any_of(taints, [&](const kube::Taint& taint) {
      return keeps_pods_away(taint) && !tolerated(tolerations_, taint);
    });
    return away ? refused_ : kFits;
  }

  const NodeTaints& taints_;
  const std::vector<kube::Toleration>& tolerations_;
  std::vector<Verdict> known_;
  Verdict refused_;
};

class PortsFilter final : public FilterOf<PortsFilter> {
 public:
  explicit PortsFilter(Cycle& cycle)
      : ports_(cycle.cluster.pods().ports()),
        wanted_(cycle.in.ports),
        refused_(
            cycle.verdicts.id_of(PluginId::NodePorts, RejectCode::unschedulable,
                                 "node(s) didn't have free ports for the requested pod ports")) {}

  Verdict judge(NodeIndex row) const { return ports_.conflict(row, wanted_) ? refused_ : kFits; }

 private:
  const PortTable& ports_;
  const std::vector<kube::HostPort>& wanted_;
  Verdict refused_;
};

}  // namespace

std::unique_ptr<Filter> make_unschedulable_filter(Cycle& cycle) {
  if (kube::unschedulable_is_tolerated(*cycle.in.tolerations)) return nullptr;
  return std::make_unique<UnschedulableFilter>(cycle);
}

std::unique_ptr<Filter> make_node_name_filter(Cycle& cycle) {
  if (cycle.in.pod.spec.node_name.empty()) return nullptr;
  return std::make_unique<NodeNameFilter>(cycle);
}

std::unique_ptr<Filter> make_taint_filter(Cycle& cycle) {
  return std::make_unique<TaintFilter>(cycle);
}

std::unique_ptr<Filter> make_ports_filter(Cycle& cycle) {
  if (cycle.in.ports.empty()) return nullptr;
  return std::make_unique<PortsFilter>(cycle);
}

std::unique_ptr<Filter> make_dynamic_resources_filter(Cycle& cycle) {
  if (!cycle.in.pod.spec.resource_claims.empty())
    cycle.failure = {PluginId::DynamicResources, RejectCode::unresolvable,
                     "dynamic resource claims are not supported yet by plimsoll"};
  return nullptr;
}

bool score_no_claims(Cycle& cycle, std::span<const NodeIndex> /*rows*/, ScoreColumn& out) {
  if (!cycle.profile.release.scores_claims()) return false;
  out.flat = true;
  out.raw = out.normalized = {0};
  return true;
}

bool score_taints(Cycle& cycle, std::span<const NodeIndex> rows, ScoreColumn& out) {
  std::vector<kube::Toleration> soft;
  for (const kube::Toleration& one : *cycle.in.tolerations)
    if (one.effect.empty() || one.effect == "PreferNoSchedule") soft.push_back(one);
  const NodeTable& table = cycle.cluster.table();
  std::vector<std::int64_t> by_set;
  for (const std::vector<kube::Taint>& taints : table.taints().sets())
    by_set.push_back(std::ranges::count_if(taints, [&](const kube::Taint& taint) {
      return taint.effect == "PreferNoSchedule" && !tolerated(soft, taint);
    }));
  out.flat = !rows.empty() && std::ranges::none_of(by_set, [](auto count) { return count != 0; });
  out.raw.reserve(out.flat ? 1 : rows.size());
  if (out.flat)
    out.raw.push_back(0);
  else
    for (NodeIndex row : rows) out.raw.push_back(by_set[table.taints().set_of(row)]);
  out.normalized = out.raw;
  normalize_by_highest(out.normalized, NormalizeOrder::reversed);
  return true;
}

}  // namespace plim::placement
