#include <algorithm>

#include "placement/declared_features.hpp"
#include "sched/queue_hints.hpp"

namespace plim::sched {
namespace {

bool lets_in(const kube::Node& node, const std::vector<kube::Toleration>& tolerations) {
  return std::ranges::none_of(node.taints, [&](const kube::Taint& taint) {
    return (taint.effect == "NoSchedule" || taint.effect == "NoExecute") &&
           !tolerated(tolerations, taint);
  });
}

// Whether the predicate holds for the node and did not before, or the node is new.
template <class Does>
bool begins(const ClusterEvent& event, Does does) {
  return event.node && does(*event.node) && !(event.node_before && does(*event.node_before));
}

// nodeSelector and required node affinity.
bool chosen_by_pod(const kube::Node& node, const kube::Pod& pod, ClusterTables& cluster) {
  placement::RuleReader& rules = cluster.rules();
  return rules.node_selector(pod)->matches(cluster.table(), node) &&
         rules.affinity(pod)->nodes.required_match(cluster.table(), node);
}

bool may_be_chosen(const ClusterEvent& event, const kube::Pod& pod, ClusterTables& cluster,
                   const Profile& profile) {
  const json::value& added = profile.node_affinity.added;
  const auto enforced = added.is_object() ? cluster.rules().node_rules(added) : nullptr;
  return begins(event, [&](const kube::Node& node) {
    return (!enforced || enforced->required_match(cluster.table(), node)) &&
           chosen_by_pod(node, pod, cluster);
  });
}

std::int64_t amount_of(const placement::NodeCapacity& capacity, placement::ResourceId id) {
  const auto at = std::ranges::find(capacity.amounts, id,
                                    &std::pair<placement::ResourceId, std::int64_t>::first);
  return at == capacity.amounts.end() ? 0 : at->second;
}

// Whether the pod would fit on the empty node, and the node is new or has more of what the pod
// needs.
bool may_fit(const ClusterEvent& event, const kube::Pod& pod, ClusterTables& cluster,
             const Profile& profile) {
  if (!event.node) return false;
  const auto wanted = wanted_resources(pod, cluster, profile);
  placement::ResourceNames& names = cluster.table().resources().names();
  const placement::NodeCapacity now = placement::capacity_of(event.node->allocatable, names);
  const bool fits = now.pods > 0 && std::ranges::all_of(wanted, [&](const auto& one) {
                      return one.second <= amount_of(now, one.first);
                    });
  if (!fits || !event.node_before) return fits;
  const placement::NodeCapacity before =
      placement::capacity_of(event.node_before->allocatable, names);
  return now.pods > before.pods || std::ranges::any_of(wanted, [&](const auto& one) {
           return amount_of(now, one.first) > amount_of(before, one.first);
         });
}

// The labels of a node before and after the event; a missing node has none.
class LabelChange {
 public:
  LabelChange(const ClusterEvent& event, const NodeTable& table) : event_(event), table_(table) {}

  bool has(placement::LabelKey key) const { return value(event_.node, key).has_value(); }

  bool had(placement::LabelKey key) const { return value(event_.node_before, key).has_value(); }

  bool differs(placement::LabelKey key) const {
    return value(event_.node, key) != value(event_.node_before, key);
  }

 private:
  std::optional<std::string_view> value(const std::shared_ptr<const kube::Node>& node,
                                        placement::LabelKey key) const {
    return node ? kube::find_label(node->meta.labels, table_.labels().text(key + 1)) : std::nullopt;
  }

  const ClusterEvent& event_;
  const NodeTable& table_;
};

bool domains_may_change(const ClusterEvent& event, const kube::Pod& pod, ClusterTables& cluster) {
  const auto spread = cluster.rules().spread(pod);
  std::vector<const placement::SpreadConstraint*> hard;
  for (const placement::SpreadConstraint& one : spread->constraints)
    if (one.hard) hard.push_back(&one);
  if (hard.empty()) return true;  // default constraints apply
  const LabelChange labels(event, cluster.table());
  const bool counts = event.node && std::ranges::all_of(hard, [&](const auto* one) {
                        return labels.has(one->key);
                      });
  const bool counted = event.node_before && std::ranges::all_of(hard, [&](const auto* one) {
                         return labels.had(one->key);
                       });
  if (counts != counted) return true;
  if (!counts) return false;
  if (event.kind == EventKind::NodeTaint)
    return std::ranges::any_of(hard, [](const auto* one) { return one->honor_taints; });
  // Nodes that do not match the pod's node affinity do not count either.
  return std::ranges::any_of(hard, [&](const auto* one) { return labels.differs(one->key); }) ||
         chosen_by_pod(*event.node, pod, cluster) !=
             chosen_by_pod(*event.node_before, pod, cluster);
}

bool places_may_change(const ClusterEvent& event, const kube::Pod& pod, ClusterTables& cluster) {
  const auto mine = cluster.rules().affinity(pod);
  const LabelChange labels(event, cluster.table());
  if (!event.node_before)  // a new node helps only if it has all topology keys
    return std::ranges::all_of(
        mine->near, [&](const placement::PodTerm& term) { return labels.has(term.topology_key); });
  const auto moved = [&](const placement::PodTerm& term) {
    return labels.differs(term.topology_key);
  };
  if (std::ranges::any_of(mine->near, moved) || std::ranges::any_of(mine->apart, moved))
    return true;
  // Existing pods with an anti-affinity term that matches this pod.
  return std::ranges::any_of(cluster.pods().terms().entries(), [&](const auto& known) {
    const placement::TermTable::Entry& entry = known.second;
    return entry.kind == placement::TermTable::Kind::apart && moved(entry.term) &&
           entry.term.matches(pod, cluster.namespaces().labels(pod.meta.ns));
  });
}

}  // namespace

bool node_may_help(PluginId plugin, const ClusterEvent& event, const kube::Pod& pod,
                   ClusterTables& cluster, const Profile& profile) {
  switch (plugin) {
    case PluginId::NodeUnschedulable:
      return begins(event, [](const kube::Node& node) { return !node.unschedulable; });
    case PluginId::TaintToleration: {
      const auto tolerations = cluster.rules().tolerations(pod);
      return begins(event, [&](const kube::Node& node) { return lets_in(node, *tolerations); });
    }
    case PluginId::NodeAffinity:
      return may_be_chosen(event, pod, cluster, profile);
    case PluginId::NodeResourcesFit:
      return may_fit(event, pod, cluster, profile);
    case PluginId::NodeDeclaredFeatures: {
      const auto needed = placement::needed_features(pod.spec);
      return begins(event, [&](const kube::Node& node) {
        return placement::declares_all(node.declared_features, needed);
      });
    }
    case PluginId::PodTopologySpread:
      return domains_may_change(event, pod, cluster);
    case PluginId::InterPodAffinity:
      return places_may_change(event, pod, cluster);
    default:
      return true;
  }
}

}  // namespace plim::sched
