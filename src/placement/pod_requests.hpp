// How much a pod asks for and a node has, counted as kube-scheduler 1.34 counts.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quantity.hpp"
#include "kube/types.hpp"

namespace plim::placement {

// cpu in milli, everything else in whole units, rounded up.
using ResourceId = std::uint16_t;
inline constexpr ResourceId kCpu = 0, kMemory = 1, kEphemeral = 2, kFirstScalar = 3;
// Names that are no resource to the scheduler, and "pods", which has a column of its own.
inline constexpr ResourceId kNoResource = 0xffff;

// Small numbers for the names of resources; they are never given back, since a cluster has few.
class ResourceNames {
 public:
  ResourceNames();

  // Made if it is new and one that the scheduler counts.
  ResourceId id_of(std::string_view name);
  // kNoResource when nobody has asked for it yet.
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

// Of a pod that counts for its node: what a resize has promised is counted too.
PodRequests requests_of(const kube::Pod& pod, ResourceNames& names);

// What NodeResourcesFit scores an incoming pod by. The pod-level requests are left out, which is
// what 1.34 does, though its filter honours them.
PodRequests scored_requests_of(const kube::Pod& pod, ResourceNames& names);

// All of a pod's requests and limits, whatever they are of: names as in the pod, which they refer
// to.
using ResourceAmounts = std::vector<std::pair<std::string_view, Quantity>>;
ResourceAmounts asked_amounts(const kube::Pod& pod);
ResourceAmounts limited_amounts(const kube::Pod& pod);

struct NodeCapacity {
  std::int64_t pods = 0;
  std::vector<std::pair<ResourceId, std::int64_t>> amounts;
};

NodeCapacity capacity_of(const kube::ResourceList& allocatable, ResourceNames& names);

}  // namespace plim::placement
