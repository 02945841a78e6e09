// Events have one store and two forms: core's, which is kept, and that of events.k8s.io.
#pragma once

#include "base/json.hpp"

namespace plim::local {

json::value event_from_core(json::value core);
json::value event_to_core(json::value event);

}  // namespace plim::local
