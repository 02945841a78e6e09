// Builds Node and Lease objects of simulated nodes. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "kube/reference_version.hpp"
#include "kube/types.hpp"

namespace plim::local::sim {

struct NodeShape {
  std::string cpu = "32", memory = "256Gi", ephemeral_storage = "1Ti", pods = "110";
  std::string version{kube::kReferenceVersion};
};

// True with the annotation plimsoll.io/sim: "true" or kwok's kwok.x-k8s.io/node.
bool is_simulated(const kube::Node& node);
bool is_ready(const kube::Node& node);
std::string address_of(const kube::Node& node);  // "" if it has none yet

// Includes the status, so that the node is ready from the start.
json::value new_node(const std::string& name, const std::string& address, const NodeShape& shape,
                     json::array images, WallTime now);
// A merge patch that makes a user's node ready. Values that the user has set stay.
json::value ready_status(const kube::Node& node, const std::string& address, const NodeShape& shape,
                         WallTime now);

inline constexpr int kLeaseSeconds = 40;
json::value new_lease(const kube::Node& node, WallTime now);
json::value renewed_lease(WallTime now);  // a merge patch

// The n-th address of 10.0.0.0/9 for nodes and of 10.128.0.0/9 for pods. The range wraps around.
std::string node_address(std::uint32_t n);
std::string pod_address(std::uint32_t n);

}  // namespace plim::local::sim
