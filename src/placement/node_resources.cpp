#include "placement/node_resources.hpp"

namespace plim::placement {

void NodeResources::add_row() {
  nonzero_cpu_.push_back(0);
  nonzero_memory_.push_back(0);
  pod_limit_.push_back(0);
  pods_.push_back(0);
  make_columns();
}

void NodeResources::make_columns() {
  for (Columns* columns : {&allocatable_, &requested_}) {
    columns->resize(names_.size());
    for (auto& column : *columns) column.resize(pods_.size(), 0);
  }
}

void NodeResources::set_allocatable(NodeIndex row, const kube::ResourceList& allocatable) {
  NodeCapacity capacity = capacity_of(allocatable, names_);
  make_columns();
  for (auto& column : allocatable_) column[row] = 0;
  for (const auto& [id, amount] : capacity.amounts) allocatable_[id][row] = amount;
  pod_limit_[row] = capacity.pods;
}

void NodeResources::count(NodeIndex row, const PodRequests& requests, int sign) {
  make_columns();
  for (ResourceId id = 0; id < kFirstScalar; ++id) requested_[id][row] += sign * requests.basic[id];
  for (const auto& [id, amount] : requests.scalars) requested_[id][row] += sign * amount;
  nonzero_cpu_[row] += sign * requests.nonzero_cpu;
  nonzero_memory_[row] += sign * requests.nonzero_memory;
  pods_[row] += sign;
}

}  // namespace plim::placement
