// The declared features of all nodes, by row. Nodes with equal features share a number. Belongs to
// one thread, as the node table does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kube/types.hpp"
#include "placement/decision.hpp"

namespace plim::placement {

class NodeFeatures {
 public:
  void add_row() { by_row_.push_back(0); }

  void set(NodeIndex row, const std::vector<kube::Interned>& features) {
    auto found = std::ranges::find(sets_, features);
    if (found == sets_.end()) found = sets_.insert(sets_.end(), features);
    by_row_[row] = static_cast<std::uint32_t>(found - sets_.begin());
  }

  // The number of the row's set; 0 for a node without features.
  std::uint32_t set_of(NodeIndex row) const { return by_row_[row]; }

  const std::vector<std::vector<kube::Interned>>& sets() const { return sets_; }

 private:
  std::vector<std::uint32_t> by_row_;
  // 0: no features. Never freed: a cluster has about one set per version of its kubelets.
  std::vector<std::vector<kube::Interned>> sets_{{}};
};

}  // namespace plim::placement
