// Walking the lists of an object without asking whether they are there.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"

namespace plim::local {

// The list at the path; an empty one when it is missing or something else.
const json::array& list_at(const json::value& value, std::initializer_list<std::string_view> path);
// Its texts; what is none is left out.
std::vector<std::string> texts_at(const json::value& value,
                                  std::initializer_list<std::string_view> path);

}  // namespace plim::local
