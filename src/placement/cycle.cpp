#include "placement/cycle.hpp"

#include <algorithm>

namespace plim::placement {

Incoming::Incoming(const kube::Pod& of, ClusterTables& cluster)
    : pod(of),
      key(pod_key(of)),
      requests(requests_of(of, cluster.table().resources().names(), cluster.release())),
      scored(scored_requests_of(of, cluster.table().resources().names())),
      ports(kube::host_ports(of)),
      tolerations(cluster.rules().tolerations(of)),
      affinity(cluster.rules().affinity(of)),
      spread(cluster.rules().spread(of)),
      node_selector(cluster.rules().node_selector(of)) {}

Verdict Verdicts::id_of(Entry entry) {
  auto at = std::ranges::find(entries_, entry);
  if (at == entries_.end()) at = entries_.insert(entries_.end(), std::move(entry));
  return static_cast<Verdict>(at - entries_.begin() + 1);
}

Verdict Verdicts::id_of(PluginId plugin, RejectCode code, std::string_view reason) {
  const auto at = std::ranges::find_if(entries_, [&](const Entry& one) {
    return one.plugin == plugin && one.code == code && one.reasons.size() == 1 &&
           one.reasons[0] == reason;
  });
  if (at != entries_.end()) return static_cast<Verdict>(at - entries_.begin() + 1);
  return id_of(Entry{plugin, code, {std::string(reason)}});
}

bool Cycle::is_named(NodeIndex row) const {
  return !only_nodes || std::ranges::binary_search(*only_nodes, cluster.table().name(row));
}

void normalize_by_highest(std::vector<std::int64_t>& scores, NormalizeOrder order) {
  const bool reversed = order == NormalizeOrder::reversed;
  std::int64_t highest = 0;
  for (std::int64_t one : scores) highest = std::max(highest, one);
  for (std::int64_t& one : scores) {
    if (highest == 0) {
      one = reversed ? 100 : one;
      continue;
    }
    one = 100 * one / highest;
    if (reversed) one = 100 - one;
  }
}

}  // namespace plim::placement
