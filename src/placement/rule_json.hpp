// Reads the JSON of pods' rules leniently: a field that is missing or has another type counts as
// not set.
#pragma once

#include <cstdint>

#include "base/json.hpp"
#include "kube/paths.hpp"

namespace plim::placement {

// Weights and skews have 32 bits in the API; an API server never sends more.
inline std::int64_t int32_at(const json::value& value, kube::IntPath path, std::int64_t fallback) {
  return static_cast<std::int32_t>(kube::int_at(value, path).value_or(fallback));
}

}  // namespace plim::placement
