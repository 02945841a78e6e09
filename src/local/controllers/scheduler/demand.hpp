// What a pod asks of a node in numbers, and what a node has.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/types.hpp"

namespace plim::local::controllers::scheduler {

// Amounts of resources; a plain value.
struct Demand {
  std::int64_t cpu_milli = 0;
  std::int64_t memory = 0;
  std::int64_t ephemeral_storage = 0;
  std::int64_t pods = 0;
  std::vector<std::pair<std::string, std::int64_t>> extended = {};  // "example.com/gpu"

  std::int64_t& of(std::string_view resource);  // made if missing
  std::int64_t at(std::string_view resource) const;
  void add(const Demand& other, int sign);
};

Demand demand_of(const kube::ResourceList& resources);
// As the kubelet counts: init containers run one after another, sidecars beside everything after
// them, the rest together; and the pod itself.
Demand demand_of(const kube::Pod& pod);

}  // namespace plim::local::controllers::scheduler
