// The pods on nodes, and what filters and scores look up about them: host ports, affinity terms and
// how many match a selector. Belongs to one thread.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "kube/host_port.hpp"
#include "placement/pod_counts.hpp"
#include "placement/pod_records.hpp"
#include "placement/port_table.hpp"

namespace plim::placement {

class PlacedPods {
 public:
  void add(std::unique_ptr<PodRecord> record);
  std::unique_ptr<PodRecord> take(std::string_view key);  // null if it is not there

  // Ports are counted apart from the pods: filters also count pods that they only imagine.
  void count_ports(NodeIndex row, const std::vector<kube::HostPort>& ports, int sign);

  const PodRecord* find(std::string_view key) const { return records_.find(key); }

  std::span<const std::unique_ptr<PodRecord>> on(NodeIndex row) const { return records_.on(row); }

  std::size_t size() const { return records_.size(); }

  const PortTable& ports() const { return ports_; }

  // The affinity terms of all these pods.
  const TermTable& terms() const { return terms_; }

  // Pods that match, by row; valid until a pod is added or taken.
  const RowCounts& count_matching(const PodMatcher& matcher);

 private:
  PodRecords records_;
  PortTable ports_;
  PodCounts counts_;
  TermTable terms_;
};

}  // namespace plim::placement
