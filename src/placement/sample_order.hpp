// The order in which nodes are checked if a share of them is enough. As in kube-scheduler it takes
// one node of every zone in turn, so that a share does not come from one zone only. Belongs to one
// thread.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/node_table.hpp"

namespace plim::placement {

class SampleOrder {
 public:
  // All live rows; valid until the table is changed.
  const std::vector<NodeIndex>& get(NodeTable& table);

 private:
  std::uint64_t version_ = 0;  // of the labels that rows_ was made from
  std::vector<NodeIndex> rows_;
};

}  // namespace plim::placement
