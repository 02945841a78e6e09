#include "placement/sample_order.hpp"

#include <map>
#include <utility>

namespace plim::placement {
namespace {

// The newer label takes precedence over the older one.
LabelValue first_label(const NodeLabels& labels, NodeIndex row, LabelKey newer, LabelKey older) {
  const LabelValue value = labels.value(row, newer);
  return value != 0 ? value : labels.value(row, older);
}

}  // namespace

const std::vector<NodeIndex>& SampleOrder::get(NodeTable& table) {
  NodeLabels& labels = table.labels();
  if (version_ == labels.version()) return rows_;
  version_ = labels.version();
  const LabelKey zone = labels.key_id("topology.kubernetes.io/zone"),
                 region = labels.key_id("topology.kubernetes.io/region"),
                 old_zone = labels.key_id("failure-domain.beta.kubernetes.io/zone"),
                 old_region = labels.key_id("failure-domain.beta.kubernetes.io/region");
  std::vector<std::vector<NodeIndex>> zones;  // in the order of their first nodes
  std::map<std::pair<LabelValue, LabelValue>, std::size_t> index;
  for (NodeIndex row : table.live()) {
    const std::pair key(first_label(labels, row, region, old_region),
                        first_label(labels, row, zone, old_zone));
    const auto [at, is_new] = index.try_emplace(key, zones.size());
    if (is_new) zones.emplace_back();
    zones[at->second].push_back(row);
  }
  rows_.clear();
  for (std::size_t turn = 0; rows_.size() < table.live().size(); ++turn)
    for (const std::vector<NodeIndex>& rows : zones)
      if (turn < rows.size()) rows_.push_back(rows[turn]);
  return rows_;
}

}  // namespace plim::placement
