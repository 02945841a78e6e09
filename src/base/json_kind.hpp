// The names of JSON's types, for messages and schemas.
#pragma once

#include <string_view>

#include "base/json.hpp"

namespace plim {

// "null", "boolean", "number", "string", "array" or "object".
inline std::string_view json_kind(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "boolean";
    case json::kind::string:
      return "string";
    case json::kind::array:
      return "array";
    case json::kind::object:
      return "object";
    default:
      return "number";
  }
}

}  // namespace plim
