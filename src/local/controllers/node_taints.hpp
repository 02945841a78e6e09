// The taints that follow from a node's conditions, and how long pods tolerate them. Pure.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "kube/types.hpp"

namespace plim::local::controllers {

// The list as it should be, nothing if it is so already. Our taints follow the conditions in
// `node`; those of others stay. `node` is the whole object.
std::optional<json::array> taints_by_conditions(const json::value& node, WallTime now);

// Whether the list is as it should be, decided from the compact form of the node.
bool has_right_taints(const kube::Node& node);

// The conditions of a node that stopped reporting, nothing if they are set already.
std::optional<json::array> silent_conditions(const json::value& node, WallTime now);

// How long the pod may stay on a node with these taints: forever if nothing, not at all if zero.
std::optional<std::chrono::seconds> stays_for(const kube::Pod& pod,
                                              const std::vector<kube::Taint>& taints);

}  // namespace plim::local::controllers
