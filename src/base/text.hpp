// Small text functions for parsers and printers. ASCII rules, independent of the locale.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace plim {

std::string_view trim(std::string_view text);  // removes white space at both ends
std::vector<std::string_view> split(std::string_view text, char separator);  // "a,,b" has 3 parts
// The parts before and after the first separator; everything and nothing if there is none.
std::pair<std::string_view, std::string_view> cut(std::string_view text, char separator);
std::string to_lower(std::string_view text);
bool equals_ignoring_case(std::string_view a, std::string_view b);

// In double quotes, for messages: escapes control characters, shortens long text.
std::string quote(std::string_view text);

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

namespace detail {
Result<std::int64_t> parse_signed(std::string_view text, int base, std::int64_t low,
                                  std::int64_t high);
Result<std::uint64_t> parse_unsigned(std::string_view text, int base, std::uint64_t high);
}  // namespace detail

// Parses the whole text as an integer of type T: digits, and a minus sign if T is signed.
template <std::integral T = int>
Result<T> parse_int(std::string_view text, int base = 10) {
  using Limits = std::numeric_limits<T>;
  if constexpr (Limits::is_signed) {
    PLIM_TRY(auto value, detail::parse_signed(text, base, Limits::min(), Limits::max()));
    return static_cast<T>(value);
  } else {
    PLIM_TRY(auto value, detail::parse_unsigned(text, base, Limits::max()));
    return static_cast<T>(value);
  }
}

// Parses the whole text as a decimal number, "-1.5e3"; a value that is too small becomes zero.
Result<double> parse_double(std::string_view text);

// How to print a double: the shortest digits that parse to the same value, with an exponent if it
// is below `plain_from` or at least `plain_until`, as in Go.
struct DoubleStyle {
  int plain_from;
  int plain_until;
  int exponent_digits;  // at least this many
};

inline constexpr DoubleStyle kJsonDouble{.plain_from = -6, .plain_until = 21, .exponent_digits = 1};
inline constexpr DoubleStyle kYamlDouble{.plain_from = -4, .plain_until = 6, .exponent_digits = 2};
std::string format_double(double finite, DoubleStyle style);
std::string format_double(float finite, DoubleStyle style);

// Lines and columns count from 1, columns in characters.
struct TextPosition {
  int line = 1;
  int column = 1;
  bool operator==(const TextPosition&) const = default;
};

TextPosition position_of(std::string_view text, std::size_t offset);
// "pod.yaml:3:7: message", or "line 3, column 7: message" without a source.
std::string located(std::string_view source, TextPosition position, std::string_view message);

// The position of the first byte that is not well-formed UTF-8.
std::optional<std::size_t> find_invalid_utf8(std::string_view text);
// The length of the first character of `text`; 0 if it is not well-formed.
std::size_t utf8_length(std::string_view text);

}  // namespace plim
