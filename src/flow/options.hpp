// Tables of the options of operations. Parsing, defaults, messages and `flow ops` use them.
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
  std::string_view fallback = {};  // JSON text; empty: no default
  std::string_view help = {};
  bool required = false;
  std::string_view choices = {};   // "none|gzip"
  std::int64_t least = 0;          // for integers
  std::string_view old_name = {};  // name in older job files
};

std::string_view type_name(Option::Type type);

// Errors and warnings about a job, each with its path.
struct Problems {
  std::vector<std::string> errors = {};
  std::vector<std::string> warnings = {};
};

// Checks the given options and adds defaults. Messages begin with `path`: "operations[1]". Keys
// that start with an underscore belong to all operations and are not checked here. Other unknown
// keys are kept, with a warning that names the most similar option.
json::object check_options(std::span<const Option> table, const json::object& given,
                           std::string_view path, Problems& problems);

// Accepts 5 and 5.0: JSON has only one kind of number.
std::optional<std::int64_t> whole_number(const json::value& value);

// A number of milliseconds, or "5 minutes", "1 second".
Result<std::chrono::milliseconds> parse_human_duration(const json::value& value);

// These functions read options that were checked.
std::string_view text_option(const json::object& options, std::string_view name);
std::int64_t int_option(const json::object& options, std::string_view name);
bool bool_option(const json::object& options, std::string_view name);
std::vector<std::string> texts_option(const json::object& options, std::string_view name);
std::chrono::milliseconds duration_option(const json::object& options, std::string_view name);

// At most `count` candidates, the most similar to `word` first.
std::vector<std::string> nearest_names(std::string_view word,
                                       std::span<const std::string_view> candidates,
                                       std::size_t count);

}  // namespace plim::flow
