// Which nodes a pod's nodeSelector and node affinity match, cached for pods with the same rules.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "placement/node_table.hpp"
#include "placement/pod_rules.hpp"

namespace plim::placement {

struct NodeMatches {
  RowSet required;                      // where the pod may run
  std::vector<std::int64_t> preferred;  // by row: sum of the weights that match; empty if none
};

// Pods with the same text share one rules object, so its address is the key. A result is valid
// until a label of a node changes.
class NodeMatchCache {
 public:
  // Valid until the next call.
  const NodeMatches& get(const std::shared_ptr<const Affinity>& affinity,
                         const std::shared_ptr<const NodeTerm>& selector, NodeTable& table);

 private:
  static constexpr std::size_t kMost = 256;

  struct Entry {
    std::shared_ptr<const Affinity> affinity;
    std::shared_ptr<const NodeTerm> selector;
    std::uint64_t version = 0;
    NodeMatches matches;
  };

  std::list<Entry> entries_;  // most recently used first
};

}  // namespace plim::placement
