// JSON that is edited or built: Boost.JSON with our limits and errors. JSON that is only read, in
// bulk, goes through simdjson in a *_decode.cpp instead.
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
// become doubles, numbers beyond a double are refused. Duplicate keys: the last one wins, as
// in Go. The error names `source`, line, column and what was expected there.
Result<json::value> parse_json(std::string_view text, std::string_view source = "");

// Numbers as Go and people write them: 1.0 is "1", never "1E0". Always valid JSON: broken UTF-8
// becomes U+FFFD, infinity null. Indented as `kubectl -o json` does; the keys keep their order.
std::string to_json(const json::value& value);
std::string to_json_indented(const json::value& value, int indent = 4);

// Reading without exceptions. A path is keys only: find(pod, {"metadata", "name"}). Null when any
// step is missing or not an object.
const json::value* find(const json::value& value, std::initializer_list<std::string_view> path);
// The text there, or "" when it is missing or no string; good for optional fields.
std::string_view text_at(const json::value& value, std::initializer_list<std::string_view> path);
std::optional<std::int64_t> int_at(const json::value& value,
                                   std::initializer_list<std::string_view> path);
bool bool_at(const json::value& value,
             std::initializer_list<std::string_view> path);  // false when missing
// The list there, an empty one when it is missing or no list.
const json::array& list_at(const json::value& value, std::initializer_list<std::string_view> path);
// Its texts; what is none is left out.
std::vector<std::string> texts_at(const json::value& value,
                                  std::initializer_list<std::string_view> path);

// The object at the path, made along the way; replaces what is not an object.
json::object& make_object(json::value& value, std::initializer_list<std::string_view> path);

// Sorts the members of every object by key, as kubectl prints them.
void sort_keys(json::value& value);

}  // namespace plim
