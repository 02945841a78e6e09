// Random objects: mostly of their type, with garbage in between.
#pragma once

#include <cstdint>

#include "base/json.hpp"
#include "local/apiserver/schema/schema.hpp"

namespace plim::local::apiserver::testing {

enum class Garbage { none, some };

// The same seed gives the same object.
json::value random_object(const Type& type, std::uint32_t seed, Garbage garbage);

}  // namespace plim::local::apiserver::testing
