// JSON behind a text that is there already, for code that prints thousands of objects a second.
// What is written is as in base/json.hpp.
#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"

namespace plim {

void append_json(std::string& out, const json::value& value);
void append_json_string(std::string& out, std::string_view text);  // with its quotes

}  // namespace plim
