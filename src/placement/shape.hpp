// A score that depends on utilization, given as points on a line.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/profile.hpp"

namespace plim::placement {

// 0 to 100 for a utilization in percent; outside of the points the nearest one counts.
std::int64_t score_on_shape(const std::vector<ShapePoint>& shape, std::int64_t utilization);

}  // namespace plim::placement
