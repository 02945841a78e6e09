// Events have one store and two forms: core's, which is kept, and that of events.k8s.io.
#pragma once

#include <string_view>

#include "base/json.hpp"

namespace plim::local::apiserver {

inline constexpr std::string_view kEventsPrefix = "/registry/core/events/";

json::value event_from_core(json::value core);
json::value event_to_core(json::value event);

}  // namespace plim::local::apiserver
