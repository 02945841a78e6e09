// Features that nodes declare in their status and that pods need by what their spec uses.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "kube/types.hpp"

namespace plim::placement {

// The features that a node must declare for a pod with this spec, as kube-scheduler 1.37 infers
// them.
std::vector<std::string_view> needed_features(const kube::PodSpec& spec);

bool declares_all(std::span<const kube::Interned> declared,
                  std::span<const std::string_view> needed);

}  // namespace plim::placement
