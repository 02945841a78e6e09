// How much a pod requests and a node has, counted as kube-scheduler does.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quantity.hpp"
#include "kube/types.hpp"
#include "placement/release.hpp"

namespace plim::placement {

// cpu in milli, everything else in whole units, rounded up.
using ResourceId = std::uint16_t;
inline constexpr ResourceId kCpu = 0, kMemory = 1, kEphemeral = 2, kFirstScalar = 3;
// For names that the scheduler does not count, and for "pods", which has its own column.
inline constexpr ResourceId kNoResource = 0xffff;

// Small numbers for the names of resources. They are never freed, since a cluster has few.
class ResourceNames {
 public:
  ResourceNames();

  // Adds the name if it is new and the scheduler counts it.
  ResourceId id_of(std::string_view name);
  // kNoResource if id_of() was never called for the name.
  ResourceId find(std::string_view name) const;

  std::string_view name(ResourceId id) const { return names_[id]; }

  std::size_t size() const { return names_.size(); }

 private:
  std::vector<std::string> names_;
};

bool is_extended_resource(std::string_view name);
bool is_scalar_resource(std::string_view name);

struct PodRequests {
  std::array<std::int64_t, 3> basic{};                         // cpu, memory, ephemeral-storage
  std::vector<std::pair<ResourceId, std::int64_t>> scalars{};  // by id
  std::int64_t nonzero_cpu = 0, nonzero_memory = 0;

  std::int64_t of(ResourceId id) const;
  bool operator==(const PodRequests&) const = default;
};

// The requests of a pod on its node, including what a resize has promised.
PodRequests requests_of(const kube::Pod& pod, ResourceNames& names, const Release& release = {});

// The requests by which NodeResourcesFit scores a pod. As in kube-scheduler they do not include
// pod-level requests, although its filter does.
PodRequests scored_requests_of(const kube::Pod& pod, ResourceNames& names);

// A pod's requests or limits of all resources. The names point into the pod.
using ResourceAmounts = std::vector<std::pair<std::string_view, Quantity>>;
ResourceAmounts asked_amounts(const kube::Pod& pod);
ResourceAmounts limited_amounts(const kube::Pod& pod);

struct NodeCapacity {
  std::int64_t pods = 0;
  std::vector<std::pair<ResourceId, std::int64_t>> amounts;
};

NodeCapacity capacity_of(const kube::ResourceList& allocatable, ResourceNames& names);

}  // namespace plim::placement
