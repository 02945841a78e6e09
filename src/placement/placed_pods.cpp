#include "placement/placed_pods.hpp"

#include <utility>

namespace plim::placement {

void PlacedPods::add(std::unique_ptr<PodRecord> record) {
  counts_.count(*record->pod, record->row, 1);
  if (record->affinity->has_pod_terms()) terms_.count(*record->affinity, record->row, 1);
  records_.add(std::move(record));
}

std::unique_ptr<PodRecord> PlacedPods::take(std::string_view key) {
  auto record = records_.take(key);
  if (!record) return nullptr;
  counts_.count(*record->pod, record->row, -1);
  if (record->affinity->has_pod_terms()) terms_.count(*record->affinity, record->row, -1);
  return record;
}

void PlacedPods::count_ports(NodeIndex row, const std::vector<kube::HostPort>& ports, int sign) {
  if (!ports.empty()) ports_.count(row, ports, sign);
}

const RowCounts& PlacedPods::count_matching(const PodMatcher& matcher) {
  return counts_.get(matcher, [&](const auto& visit) {
    for (const PodRecords::OnRow& records : records_.by_row())
      for (const auto& record : records) visit(*record->pod, record->row);
  });
}

}  // namespace plim::placement
