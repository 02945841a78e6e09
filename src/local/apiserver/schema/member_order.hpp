// The order in which Go prints members, so that equal objects have equal bytes.
#pragma once

#include "base/json.hpp"
#include "local/apiserver/schema/schema.hpp"

namespace plim::local::apiserver {

// In the order of the table; unknown members come last.
void order_members(const Type& type, json::object& object);
void sort_map(json::object& map);  // by key

}  // namespace plim::local::apiserver
