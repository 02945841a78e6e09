// What nodes have and what their pods request, as columns by row. Belongs to one thread, as the
// node table does.
#pragma once

#include <cstdint>
#include <vector>

#include "kube/types.hpp"
#include "placement/decision.hpp"
#include "placement/pod_requests.hpp"

namespace plim::placement {

class NodeResources {
 public:
  void add_row();
  void set_allocatable(NodeIndex row, const kube::ResourceList& allocatable);

  // Adds (1) or subtracts (-1) the requests of a pod.
  void count(NodeIndex row, const PodRequests& requests, int sign);

  // Makes the columns of every resource that has a name.
  void make_columns();

  ResourceNames& names() { return names_; }

  const ResourceNames& names() const { return names_; }

  // Columns; nullptr for a resource that no node or pod has named yet.
  const std::int64_t* allocatable(ResourceId id) const { return column(allocatable_, id); }

  const std::int64_t* requested(ResourceId id) const { return column(requested_, id); }

  const std::int64_t* nonzero_cpu() const { return nonzero_cpu_.data(); }

  const std::int64_t* nonzero_memory() const { return nonzero_memory_.data(); }

  const std::int32_t* pods() const { return pods_.data(); }

  const std::int64_t* pod_limit() const { return pod_limit_.data(); }

 private:
  using Columns = std::vector<std::vector<std::int64_t>>;

  static const std::int64_t* column(const Columns& columns, ResourceId id) {
    return id < columns.size() ? columns[id].data() : nullptr;
  }

  ResourceNames names_;
  Columns allocatable_, requested_;
  std::vector<std::int64_t> nonzero_cpu_, nonzero_memory_, pod_limit_;
  std::vector<std::int32_t> pods_;
};

}  // namespace plim::placement
