// Appends JSON to a text, for code that prints thousands of objects per second. Prints the same as
// base/json.hpp.
#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"

namespace plim {

void append_json(std::string& out, const json::value& value);
void append_json_string(std::string& out, std::string_view text);  // with quotes

}  // namespace plim
