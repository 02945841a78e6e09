#include "placement/shape.hpp"

#include <cstddef>

namespace plim::placement {

std::int64_t score_on_shape(const std::vector<ShapePoint>& shape, std::int64_t utilization) {
  constexpr std::int64_t kScale = 10;  // the highest score of a shape is 10, ours is 100
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (utilization > shape[i].utilization) continue;
    if (i == 0) return shape[0].score * kScale;
    const ShapePoint &from = shape[i - 1], &to = shape[i];
    return from.score * kScale + (to.score - from.score) * kScale *
                                     (utilization - from.utilization) /
                                     (to.utilization - from.utilization);
  }
  return shape.empty() ? 0 : shape.back().score * kScale;
}

}  // namespace plim::placement
