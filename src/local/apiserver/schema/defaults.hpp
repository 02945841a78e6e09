// Values that the server fills in because clients rely on them.
#pragma once

#include "base/json.hpp"
#include "local/apiserver/schema/schema.hpp"

namespace plim::local::apiserver {

// All defaults that follow from the object alone: those of the table, and those that depend on
// other fields (imagePullPolicy of a tag, requests from limits, targetPort from port).
void apply_defaults(std::string_view group, std::string_view kind, const Type& type,
                    json::value& object);

}  // namespace plim::local::apiserver
