// status.conditions of the API's objects, edited as JSON. Pure.
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

// Puts it last, replacing the one of its type. With the same status the time of the last transition
// stays.
void put_condition(json::object& status, json::object condition);
void remove_condition(json::object& status, std::string_view type);

}  // namespace plim::local::controllers
