// The options of operations as tables: parsing, defaults, messages and `flow ops` come from them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"

namespace plim::flow {

struct Option {
  enum class Type { text, integer, boolean, duration, texts, map, any };

  std::string_view name;
  Type type = Type::text;
  std::string_view fallback = {};  // JSON text; empty: stays unset
  std::string_view help = {};
  bool required = false;
  std::string_view choices = {};   // "none|gzip"
  std::int64_t least = 0;          // of integers
  std::string_view old_name = {};  // what older job files call it
};

std::string_view type_name(Option::Type type);

// What is wrong with a job, each with its path, and what is only odd.
struct Problems {
  std::vector<std::string> errors = {};
  std::vector<std::string> warnings = {};
};

// The given options with defaults filled in. `path` is what messages begin with: "operations[1]".
// Keys that start with an underscore are everybody's and are not looked at here; other keys that
// the table does not have are kept, with a warning that names the nearest one.
json::object check_options(std::span<const Option> table, const json::object& given,
                           std::string_view path, Problems& problems);

// 5, and 5.0 as well: JSON has only one kind of number.
std::optional<std::int64_t> whole_number(const json::value& value);

// Milliseconds, or "5 minutes", "1 second".
Result<std::chrono::milliseconds> parse_human_duration(const json::value& value);

// Reading options that were checked.
std::string_view text_option(const json::object& options, std::string_view name);
std::int64_t int_option(const json::object& options, std::string_view name);
bool bool_option(const json::object& options, std::string_view name);
std::vector<std::string> texts_option(const json::object& options, std::string_view name);
std::chrono::milliseconds duration_option(const json::object& options, std::string_view name);

// The candidates most like `word`, nearest first, at most `count`.
std::vector<std::string> nearest_names(std::string_view word,
                                       std::span<const std::string_view> candidates,
                                       std::size_t count);

}  // namespace plim::flow
