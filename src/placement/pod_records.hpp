// Pods with what the tables count for them, by key and by node. Belongs to one thread.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "kube/host_port.hpp"
#include "kube/types.hpp"
#include "placement/node_table.hpp"
#include "placement/pod_requests.hpp"
#include "placement/pod_rules.hpp"

namespace plim::placement {

using PodPointer = std::shared_ptr<const kube::Pod>;

// A pod on a node, or one that is nominated for it.
struct PodRecord {
  PodPointer pod;
  NodeIndex row = 0;
  PodRequests requests;
  std::vector<kube::HostPort> ports;
  std::shared_ptr<const Affinity> affinity;
  std::vector<std::string> images;  // keys of images that the node has or pulls for the pod
  WallTime bound_at{};              // the largest time if nothing says when yet

  const kube::Pod& operator*() const { return *pod; }
};

// A pod's uid; without one, as in files people write, its namespace and name.
std::string pod_key(const kube::Pod& pod);

std::unique_ptr<PodRecord> make_record(PodPointer pod, NodeIndex row, NodeTable& table,
                                       RuleReader& rules, const Release& release);

class PodRecords {
 public:
  using OnRow = std::vector<std::unique_ptr<PodRecord>>;

  void add(std::unique_ptr<PodRecord> record);
  std::unique_ptr<PodRecord> take(std::string_view key);  // null if it is not there

  const PodRecord* find(std::string_view key) const;
  std::span<const std::unique_ptr<PodRecord>> on(NodeIndex row) const;

  const std::vector<OnRow>& by_row() const { return by_row_; }

  std::size_t size() const { return rows_.size(); }

 private:
  TextMap<NodeIndex> rows_;  // by key
  std::vector<OnRow> by_row_;
};

}  // namespace plim::placement
