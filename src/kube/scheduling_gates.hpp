// Scheduling gates: a pod that has one is not placed until its owner removes it.
#pragma once

#include <string_view>

#include "kube/types.hpp"

namespace plim::kube {

inline bool has_scheduling_gates(const Pod& pod) {
  const std::string_view gates = pod.spec.scheduling_gates;
  return !gates.empty() && gates != "[]" && gates != "null";
}

}  // namespace plim::kube
