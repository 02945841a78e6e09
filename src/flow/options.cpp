#include "flow/options.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/suggest.hpp"
#include "base/text.hpp"

namespace plim::flow {
namespace {

using Type = Option::Type;

bool is_texts(const json::value& value) {
  return value.is_array() && std::ranges::all_of(value.as_array(), [](const json::value& one) {
           return one.is_string();
         });
}

std::string choices_text(std::string_view choices) {
  std::string out;
  for (std::string_view one : split(choices, '|'))
    out += (out.empty() ? "" : ", ") + std::string(one);
  return out;
}

// Returns "" if the value is valid.
std::string mistake_in(const Option& option, const json::value& value) {
  switch (option.type) {
    case Type::any:
      return {};
    case Type::boolean:
      return value.is_bool() ? "" : "must be true or false";
    case Type::integer: {
      auto number = whole_number(value);
      if (number && *number >= option.least) return {};
      return option.least > 0    ? "must be valid integer greater than zero"
             : option.least == 0 ? "must be an integer, zero or greater"
                                 : fmt::format("must be an integer, {} or greater", option.least);
    }
    case Type::duration:
      return parse_human_duration(value)
                 ? ""
                 : "must be a positive integer or human readable string, such as 500 or "
                   "\"5 seconds\"";
    case Type::texts:
      return is_texts(value) ? "" : "must be an array of strings";
    case Type::map:
      return value.is_object() ? "" : "must be an object";
    case Type::text:
      break;
  }
  if (!value.is_string() || (option.required && value.as_string().empty()))
    return "This field is required and must be of type string";
  if (option.choices.empty()) return {};
  auto choices = split(option.choices, '|');
  std::string_view given = value.as_string();
  if (std::ranges::find(choices, given) != choices.end()) return {};
  return fmt::format("must be one of {}, got {}", choices_text(option.choices), quote(given));
}

std::string unknown_key(std::string_view path, std::string_view key,
                        std::span<const Option> table) {
  std::vector<std::string_view> names;
  for (const Option& option : table) names.push_back(option.name);
  std::string out = fmt::format("{}.{}: unknown option", path, key);
  if (std::string_view near = nearest(key, names); !near.empty())
    out += fmt::format("; did you mean {}?", near);
  return out;
}

}  // namespace

std::optional<std::int64_t> whole_number(const json::value& value) {
  if (value.is_int64()) return value.as_int64();
  if (value.is_double()) {
    double number = value.as_double();
    if (std::trunc(number) == number && std::abs(number) < 9e15)
      return static_cast<std::int64_t>(number);
  }
  return std::nullopt;
}

std::string_view type_name(Option::Type type) {
  constexpr std::array<std::string_view, 7> kNames{"text",   "integer", "boolean", "duration",
                                                   "[]text", "object",  "any"};
  return kNames[static_cast<std::size_t>(type)];
}

json::object check_options(std::span<const Option> table, const json::object& given,
                           std::string_view path, Problems& problems) {
  json::object out = given;
  for (const Option& option : table) {
    if (option.old_name.empty() || !out.contains(option.old_name)) continue;
    json::value value = out.at(option.old_name);
    out.erase(option.old_name);
    if (!out.contains(option.name)) out[option.name] = std::move(value);
  }
  for (const auto& [key, value] : out) {
    if (key.starts_with('_')) continue;
    if (std::ranges::find(table, std::string_view(key), &Option::name) == table.end())
      problems.warnings.push_back(unknown_key(path, key, table));
  }
  for (const Option& option : table) {
    const json::value* value = out.if_contains(option.name);
    if (value == nullptr || value->is_null()) {
      out.erase(option.name);
      if (option.required)
        problems.errors.push_back(fmt::format("{}.{}: {}", path, option.name,
                                              "This field is required and must be of type string"));
      if (!option.fallback.empty()) out[option.name] = *parse_json(option.fallback);
      continue;
    }
    if (std::string mistake = mistake_in(option, *value); !mistake.empty())
      problems.errors.push_back(fmt::format("{}.{}: {}", path, option.name, mistake));
  }
  return out;
}

Result<std::chrono::milliseconds> parse_human_duration(const json::value& value) {
  using std::chrono::milliseconds;
  if (auto number = whole_number(value); number && *number >= 0) return milliseconds(*number);
  if (!value.is_string()) return fail(Code::invalid, "no duration");
  std::string_view text = trim(std::string_view(value.as_string()));
  std::size_t digits = 0;
  while (digits < text.size() && is_digit(text[digits])) ++digits;
  auto count = parse_int<std::uint32_t>(text.substr(0, digits));
  if (!count) return fail(Code::invalid, fmt::format("not a duration: {}", quote(text)));
  std::string unit = to_lower(trim(text.substr(digits)));
  if (unit.size() > 2 && unit.ends_with('s')) unit.pop_back();

  struct Unit {
    std::string_view names;
    std::int64_t ms;
  };

  constexpr std::array kUnits{Unit{"ms|milli|millisecond|", 1}, Unit{"s|sec|second", 1000},
                              Unit{"m|min|minute", 60'000}, Unit{"h|hr|hour", 3'600'000},
                              Unit{"d|day", 86'400'000}};
  for (const Unit& one : kUnits) {
    auto names = split(one.names, '|');
    if (std::ranges::find(names, std::string_view(unit)) != names.end())
      return milliseconds(one.ms * *count);
  }
  return fail(Code::invalid, fmt::format("not a duration: {}", quote(text)));
}

std::string_view text_option(const json::object& options, std::string_view name) {
  const json::value* value = options.if_contains(name);
  return value != nullptr && value->is_string() ? std::string_view(value->as_string())
                                                : std::string_view();
}

std::int64_t int_option(const json::object& options, std::string_view name) {
  const json::value* value = options.if_contains(name);
  return value != nullptr ? whole_number(*value).value_or(0) : 0;
}

bool bool_option(const json::object& options, std::string_view name) {
  const json::value* value = options.if_contains(name);
  return value != nullptr && value->is_bool() && value->as_bool();
}

std::vector<std::string> texts_option(const json::object& options, std::string_view name) {
  std::vector<std::string> out;
  const json::value* value = options.if_contains(name);
  if (value != nullptr && is_texts(*value))
    for (const json::value& one : value->as_array()) out.emplace_back(one.as_string());
  return out;
}

std::chrono::milliseconds duration_option(const json::object& options, std::string_view name) {
  const json::value* value = options.if_contains(name);
  if (value == nullptr) return {};
  return parse_human_duration(*value).value_or(std::chrono::milliseconds(0));
}

std::vector<std::string> nearest_names(std::string_view word,
                                       std::span<const std::string_view> candidates,
                                       std::size_t count) {
  constexpr std::size_t kLongestWord = 64;
  word = word.substr(0, kLongestWord);  // longer words are not typing mistakes
  std::vector<std::pair<std::size_t, std::string_view>> ranked;
  for (std::string_view one : candidates) ranked.emplace_back(edit_distance(word, one), one);
  std::ranges::sort(ranked);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < std::min(count, ranked.size()); ++i)
    out.emplace_back(ranked[i].second);
  return out;
}

}  // namespace plim::flow
