#include "placement/sample_order.hpp"

#include <map>
#include <utility>

namespace plim::placement {
namespace {

// Newer names of labels go before the older ones.
LabelValue first_label(const NodeTable& table, NodeIndex row, LabelKey newer, LabelKey older) {
  const LabelValue value = table.label(row, newer);
  return value != 0 ? value : table.label(row, older);
}

}  // namespace

const std::vector<NodeIndex>& SampleOrder::get(NodeTable& table) {
  if (version_ == table.label_version()) return rows_;
  version_ = table.label_version();
  const LabelKey zone = table.key_id("topology.kubernetes.io/zone"),
                 region = table.key_id("topology.kubernetes.io/region"),
                 old_zone = table.key_id("failure-domain.beta.kubernetes.io/zone"),
                 old_region = table.key_id("failure-domain.beta.kubernetes.io/region");
  std::vector<std::vector<NodeIndex>> zones;  // in the order of their first nodes
  std::map<std::pair<LabelValue, LabelValue>, std::size_t> index;
  for (NodeIndex row : table.live()) {
    const std::pair key(first_label(table, row, region, old_region),
                        first_label(table, row, zone, old_zone));
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
