// Edits status.conditions of API objects as JSON. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "base/clock.hpp"
#include "base/json.hpp"

namespace plim::local::controllers {

struct NewCondition {
  std::string_view type = {}, status = {}, reason = {}, message = {};
};

const json::object* find_condition(const json::value& status, std::string_view type);
bool has_true_condition(const json::value& status, std::string_view type);

// With type, status, reason, message and lastTransitionTime.
json::object make_condition(const NewCondition& condition, WallTime now);

// Appends the condition, replacing the one of its type. If the status is unchanged,
// lastTransitionTime stays.
void put_condition(json::object& status, json::object condition);
void remove_condition(json::object& status, std::string_view type);

}  // namespace plim::local::controllers
