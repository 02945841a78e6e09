// The JSON of pods' rules, read leniently: what is missing or of another kind demands nothing.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"

namespace plim::placement {

inline constexpr std::string_view kRequiredTerms = "requiredDuringSchedulingIgnoredDuringExecution";
inline constexpr std::string_view kPreferredTerms =
    "preferredDuringSchedulingIgnoredDuringExecution";

// The API has 32 bits for weights and skews; more is no answer of an API server.
inline std::int64_t int32_at(const json::value& value, std::string_view key,
                             std::int64_t fallback) {
  return static_cast<std::int32_t>(int_at(value, {key}).value_or(fallback));
}

}  // namespace plim::placement
