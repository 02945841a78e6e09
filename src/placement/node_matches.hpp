// Which nodes a pod's nodeSelector and node affinity match, remembered for pods alike.
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

// The rules of pods with the same text are the same object, so their addresses tell them apart. An
// answer is good until the label of a node changes.
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

  std::list<Entry> entries_;  // lately used first
};

}  // namespace plim::placement
