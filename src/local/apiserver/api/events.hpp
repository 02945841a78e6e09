// Events are stored in the form of the core group and also served as events.k8s.io.
#pragma once

#include <string_view>

#include "base/json.hpp"

namespace plim::local::apiserver {

inline constexpr std::string_view kEventsPrefix = "/registry/core/events/";

json::value event_from_core(json::value core);
json::value event_to_core(json::value event);

}  // namespace plim::local::apiserver
