// Computes how many pods of a PodDisruptionBudget may be evicted. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "local/controllers/owned_object.hpp"

namespace plim::local::controllers {

struct DisruptionInput {
  ObjectPointer budget;
  std::vector<PodPointer> pods;
  // How many pods the controllers of these pods want in total; for percentages and maxUnavailable.
  std::int64_t expected = 0;
};

// A granted eviction counts until its pod is being deleted, at most this long.
inline constexpr std::chrono::minutes kEvictionTimeout{2};

struct DisruptionPlan {
  json::value status;
  std::optional<WallTime> look_again = {};
};

DisruptionPlan plan_disruptions(const DisruptionInput& input, WallTime now);

}  // namespace plim::local::controllers
