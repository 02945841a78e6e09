// The JSON of pods' rules, read leniently: what is missing or of another kind demands nothing.
#pragma once

#include <cstdint>

#include "base/json.hpp"
#include "kube/paths.hpp"

namespace plim::placement {

// The API has 32 bits for weights and skews; more is no answer of an API server.
inline std::int64_t int32_at(const json::value& value, kube::IntPath path, std::int64_t fallback) {
  return static_cast<std::int32_t>(kube::int_at(value, path).value_or(fallback));
}

}  // namespace plim::placement
