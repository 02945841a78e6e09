// The order in which Go prints members, so that equal objects have equal bytes.
#pragma once

#include "base/json.hpp"
#include "local/apiserver/schema/schema.hpp"

namespace plim::local::apiserver {

// As the table has them; what it does not know comes last.
void order_members(const Type& type, json::object& object);
void sort_map(json::object& map);  // by key

}  // namespace plim::local::apiserver
