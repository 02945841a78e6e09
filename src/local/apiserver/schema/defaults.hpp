// Sets default values, as the API promises.
#pragma once

#include "base/json.hpp"
#include "local/apiserver/schema/schema.hpp"

namespace plim::local::apiserver {

// All defaults that depend on the object alone: those of the tables, and those that depend on other
// fields (imagePullPolicy on the tag, requests on limits, targetPort on port).
void apply_defaults(std::string_view group, std::string_view kind, const Type& type,
                    json::value& object);

}  // namespace plim::local::apiserver
