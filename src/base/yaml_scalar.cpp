#include "base/yaml_scalar.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "base/base64.hpp"
#include "base/text.hpp"

namespace plim {
namespace {

constexpr std::array<std::string_view, 5> kNull{"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 11> kTrue{"y",    "Y",    "yes", "Yes", "YES", "true",
                                                 "True", "TRUE", "on",  "On",  "ON"};
constexpr std::array<std::string_view, 11> kFalse{"n",     "N",     "no",  "No",  "NO", "false",
                                                  "False", "FALSE", "off", "Off", "OFF"};
constexpr std::array<std::string_view, 12> kNotFinite{".nan",  ".NaN",  ".NAN",  ".inf",
                                                      ".Inf",  ".INF",  "+.inf", "+.Inf",
                                                      "+.INF", "-.inf", "-.Inf", "-.INF"};

bool contains(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::size_t count_digits(std::string_view text) {
  return std::min(text.find_first_not_of("0123456789"), text.size());
}

// [-+]? ( \. digits | digits ( \. digits? )? ) ( [eE] [-+]? digits )?
bool looks_like_decimal(std::string_view text) {
  auto skip_digits = [&] {
    std::size_t n = count_digits(text);
    text.remove_prefix(n);
    return n > 0;
  };
  auto skip_any_of = [&](std::string_view wanted) {
    bool found = !text.empty() && wanted.find(text.front()) != wanted.npos;
    if (found) text.remove_prefix(1);
    return found;
  };
  skip_any_of("+-");
  bool whole = skip_digits();
  bool fraction = skip_any_of(".") && skip_digits();
  if (!whole && !fraction) return false;
  if (skip_any_of("eE")) {
    skip_any_of("+-");
    if (!skip_digits()) return false;
  }
  return text.empty();
}

struct Integer {
  bool negative = false;
  bool has_sign = false;
  int base = 10;
  std::string_view digits;
};

// Integers in Go's syntax with a base prefix: 0x1F, 0o17, 017, 0b11, 42.
std::optional<Integer> split_integer(std::string_view text) {
  Integer out;
  if (text.starts_with('-') || text.starts_with('+')) {
    out.has_sign = true;
    out.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  if (text.size() > 1 && text.front() == '0') {
    char kind = static_cast<char>(text[1] | 0x20);
    out.base = kind == 'x' ? 16 : kind == 'b' ? 2 : 8;
    text.remove_prefix(kind == 'x' || kind == 'b' || kind == 'o' ? 2 : 1);
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  auto allowed = kDigits.substr(0, static_cast<std::size_t>(out.base));
  bool good = !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return allowed.find(is_digit(c) ? c : static_cast<char>(c | 0x20)) != allowed.npos;
  });
  if (!good) return std::nullopt;
  out.digits = text;
  return out;
}

// Nothing if the integer needs more than 64 bits.
std::optional<json::value> small_integer(const Integer& integer) {
  std::uint64_t magnitude = 0;
  auto [end, error] =
      std::from_chars(integer.digits.data(), integer.digits.data() + integer.digits.size(),
                      magnitude, integer.base);
  constexpr std::uint64_t kMinMagnitude = std::uint64_t{1} << 63;
  if (error != std::errc() ||
      magnitude > kMinMagnitude * (integer.negative ? 1 : 2) - 1 + integer.negative)
    return std::nullopt;
  if (integer.negative) return json::value(static_cast<std::int64_t>(0 - magnitude));
  if (magnitude < kMinMagnitude) return json::value(static_cast<std::int64_t>(magnitude));
  if (integer.has_sign) return std::nullopt;  // Go accepts no sign before unsigned numbers
  return json::value(magnitude);
}

// A number, or nothing if the text is a string.
Result<std::optional<json::value>> resolve_number(std::string_view text) {
  std::string plain(text);
  // YAML 1.1 allows underscores between digits; go-yaml drops them everywhere.
  if (text.front() != '.') std::erase(plain, '_');
  if (plain.empty()) return std::nullopt;
  auto integer = split_integer(plain);
  if (integer) {
    if (auto value = small_integer(*integer)) return value;
  }
  if (looks_like_decimal(plain)) {
    std::string_view unsigned_text = plain;
    if (unsigned_text.starts_with('+')) unsigned_text.remove_prefix(1);
    auto number = parse_double(unsigned_text);
    if (number) return json::value(*number);
    if (integer) return number.error();
    return std::nullopt;  // go-yaml reads 1e999 as a string
  }
  if (integer) {  // a hexadecimal number beyond 64 bits becomes the nearest double
    double value = 0;
    for (char c : integer->digits) {
      int digit = is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10;
      value = value * integer->base + digit;
    }
    if (value > std::numeric_limits<double>::max())
      return fail(Code::invalid, fmt::format("{} is out of range for a number", quote(text)));
    return json::value(integer->negative ? -value : value);
  }
  return std::nullopt;
}

bool looks_like_timestamp(std::string_view text) {
  // "2006-1-2", perhaps followed by a time; the year has four digits.
  if (count_digits(text) != 4 || text.substr(4, 1) != "-") return false;
  text.remove_prefix(5);
  std::size_t month = count_digits(text);
  if (month < 1 || month > 2 || text.substr(month, 1) != "-") return false;
  text.remove_prefix(month + 1);
  std::size_t day = count_digits(text);
  if (day < 1 || day > 2) return false;
  text.remove_prefix(day);
  return text.empty() || std::string_view("Tt \t").find(text.front()) != text.npos;
}

// YAML 1.1 reads 1:30 as ninety; go-yaml does not, but other parsers may.
bool looks_like_base_60(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return text.find(':') != text.npos && !text.empty() && is_digit(text.front()) &&
         text.find_first_not_of("0123456789_:.") == text.npos;
}

}  // namespace

Result<json::value> resolve_plain_scalar(std::string_view text) {
  if (contains(kNull, text)) return json::value(nullptr);
  if (contains(kTrue, text)) return json::value(true);
  if (contains(kFalse, text)) return json::value(false);
  if (contains(kNotFinite, text))
    return fail(Code::invalid, fmt::format("{} is a number that JSON does not have", text));
  if (is_digit(text.front()) || std::string_view("+-.").find(text.front()) != text.npos) {
    PLIM_TRY(auto number, resolve_number(text));
    if (number) return *number;
  }
  return json::value(text);
}

Result<json::value> resolve_tagged_scalar(std::string_view tag, std::string_view text) {
  if (tag == "binary") {
    PLIM_TRY(auto bytes, base64_decode(text));
    if (find_invalid_utf8(bytes))
      return fail(Code::invalid, "!!binary data must be UTF-8 text here");
    return json::value(bytes);
  }
  if (tag != "null" && tag != "bool" && tag != "int" && tag != "float") return json::value(text);
  PLIM_TRY(auto value, resolve_plain_scalar(text));
  bool is_integer = value.is_int64() || value.is_uint64();
  if (tag == "float" && is_integer) return json::value(value.to_number<double>());
  bool matches = (tag == "null" && value.is_null()) || (tag == "bool" && value.is_bool()) ||
                 (tag == "int" && is_integer) || (tag == "float" && value.is_double());
  if (!matches) return fail(Code::invalid, fmt::format("cannot read {} as !!{}", quote(text), tag));
  return value;
}

bool is_ambiguous_scalar(std::string_view text) {
  // YAML 1.1 also has merge keys and value keys.
  if (text == "<<" || text == "=") return true;
  auto value = resolve_plain_scalar(text);
  return !value || !value->is_string() || looks_like_timestamp(text) || looks_like_base_60(text);
}

}  // namespace plim
