// The text of FailedScheduling, byte for byte as kube-scheduler writes it.
#pragma once

#include <span>
#include <string>

#include "placement/decision.hpp"

namespace plim::placement {

// "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu."
std::string unavailable_message(std::size_t nodes, std::span<const Rejection> rejections);

}  // namespace plim::placement
