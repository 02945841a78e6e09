// JSON that is edited or built: Boost.JSON with our limits and errors. JSON that is only read, in
// large amounts, is parsed with simdjson in a *_decode.cpp file instead.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json.hpp>

#include "base/result.hpp"

namespace plim {
namespace json = boost::json;

inline constexpr std::size_t kMaxJsonDepth = 128;

// At most kMaxJsonDepth levels deep, valid UTF-8, nothing after the value. Integers beyond 64 bits
// become doubles; numbers beyond a double are rejected. Of duplicate keys the last one wins, as in
// Go. Errors name `source`, line, column and what was expected.
Result<json::value> parse_json(std::string_view text, std::string_view source = "");

// Prints numbers as Go does: 1.0 is "1", never "1E0". Always valid JSON: broken UTF-8 becomes
// U+FFFD, infinity null. The indented form is like `kubectl -o json`; keys keep their order.
std::string to_json(const json::value& value);
std::string to_json_indented(const json::value& value, int indent = 4);

// Reading without exceptions. A path contains only keys: find(pod, {"metadata", "name"}). Null if
// any step is missing or not an object.
const json::value* find(const json::value& value, std::initializer_list<std::string_view> path);
// The text at the path, or "" if it is missing or not a string; for optional fields.
std::string_view text_at(const json::value& value, std::initializer_list<std::string_view> path);
std::optional<std::int64_t> int_at(const json::value& value,
                                   std::initializer_list<std::string_view> path);
bool bool_at(const json::value& value,
             std::initializer_list<std::string_view> path);  // false if missing
// The list at the path, an empty one if it is missing or not a list.
const json::array& list_at(const json::value& value, std::initializer_list<std::string_view> path);
// The strings of that list; skips other elements.
std::vector<std::string> texts_at(const json::value& value,
                                  std::initializer_list<std::string_view> path);

// The object at the path, creating missing ones; replaces values that are not objects.
json::object& make_object(json::value& value, std::initializer_list<std::string_view> path);

// Sorts the members of every object by key, as kubectl prints them.
void sort_keys(json::value& value);

}  // namespace plim
