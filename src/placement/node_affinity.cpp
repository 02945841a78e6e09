// NodeAffinity: nodeSelector, required and preferred node affinity, and what the profile adds.
#include <vector>

#include "placement/plugins.hpp"

namespace plim::placement {
namespace {

class NodeAffinityFilter final : public FilterOf<NodeAffinityFilter> {
 public:
  NodeAffinityFilter(Cycle& cycle, std::shared_ptr<const NodeRules> added)
      : table_(cycle.cluster.table()),
        added_(std::move(added)),
        matches_(cycle.node_matches().required),
        enforced_(cycle.verdicts.id_of(PluginId::NodeAffinity, RejectCode::unresolvable,
                                       "node(s) didn't match scheduler-enforced node affinity")),
        refused_(cycle.verdicts.id_of(PluginId::NodeAffinity, RejectCode::unresolvable,
                                      "node(s) didn't match Pod's node affinity/selector")) {}

  Verdict judge(NodeIndex row) const {
    if (added_ && !added_->required_match(table_, row)) return enforced_;
    return matches_.has(row) ? kFits : refused_;
  }

 private:
  const NodeTable& table_;
  std::shared_ptr<const NodeRules> added_;
  const RowSet& matches_;
  Verdict enforced_, refused_;
};

std::shared_ptr<const NodeRules> added_rules(Cycle& cycle) {
  const json::value& added = cycle.profile.node_affinity.added;
  return added.is_object() ? cycle.cluster.rules().node_rules(added) : nullptr;
}

}  // namespace

std::unique_ptr<Filter> make_node_affinity_filter(Cycle& cycle) {
  const NodeRules& own = cycle.in.affinity->nodes;
  auto added = added_rules(cycle);
  bool enforced = added && added->has_required;
  if (!own.has_required && cycle.in.pod.spec.node_selector.empty() && !enforced) return nullptr;
  if (own.only_nodes && own.only_nodes->empty()) {
    cycle.failure = {PluginId::NodeAffinity, RejectCode::unresolvable,
                     "pod affinity terms conflict"};
    return nullptr;
  }
  cycle.only_nodes = own.only_nodes;
  return std::make_unique<NodeAffinityFilter>(cycle, enforced ? std::move(added) : nullptr);
}

bool score_node_affinity(Cycle& cycle, std::span<const NodeIndex> rows, ScoreColumn& out) {
  auto added = added_rules(cycle);
  bool any_added = added && added->has_preferred;
  if (!cycle.in.affinity->nodes.has_preferred && !any_added) return false;
  const NodeTable& table = cycle.cluster.table();
  const std::vector<std::int64_t>& own = cycle.node_matches().preferred;
  out.raw.reserve(rows.size());
  for (NodeIndex row : rows) {
    std::int64_t sum = own.empty() ? 0 : own[row];
    if (any_added)
      for (const NodeTerm& term : added->preferred)
        if (term.matches(table, row)) sum += term.weight;
    out.raw.push_back(sum);
  }
  out.normalized = out.raw;
  normalize_by_highest(out.normalized, NormalizeOrder::as_is);
  return true;
}

}  // namespace plim::placement
