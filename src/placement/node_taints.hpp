// The taints of all nodes, by row. Nodes with equal taints share a number, so that filters and
// scores judge each set of taints once. Belongs to one thread, as the node table does.
#pragma once

#include <cstdint>
#include <vector>

#include "kube/types.hpp"
#include "placement/decision.hpp"

namespace plim::placement {

class NodeTaints {
 public:
  void add_row() { by_row_.push_back(0); }

  void set(NodeIndex row, const std::vector<kube::Taint>& taints);

  // The number of the row's set; 0 for a node without taints.
  std::uint32_t set_of(NodeIndex row) const { return by_row_[row]; }

  const std::vector<std::vector<kube::Taint>>& sets() const { return sets_; }

  // Whether any live node has taints. In most clusters filters need not look at each node.
  bool any() const { return tainted_ != 0; }

 private:
  std::uint32_t number_of(const std::vector<kube::Taint>& taints);
  void forget_unused_sets();

  std::size_t tainted_ = 0;
  std::vector<std::uint32_t> by_row_;
  std::vector<std::vector<kube::Taint>> sets_{{}};  // 0: no taints
};

}  // namespace plim::placement
