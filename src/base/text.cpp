#include "base/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace plim {
namespace {

constexpr std::string_view kWhiteSpace = " \t\r\n\v\f";

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

template <class T>
Result<T> parse_integer(std::string_view text, int base, T low, T high) {
  T value = 0;
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, value, base);
  bool out_of_range = error == std::errc::result_out_of_range || value < low || value > high;
  if (error == std::errc::invalid_argument || stop != end)
    return fail(Code::invalid, fmt::format("expected an integer, found {}", quote(text)));
  if (out_of_range) {
    return fail(Code::invalid,
                fmt::format("{} is out of range, expected {} to {}", text, low, high));
  }
  return value;
}

// from_chars reports "out of range" for too large and too small values; this distinguishes them.
bool is_tiny(std::string_view number) {
  auto e = std::min(number.find_first_of("eE"), number.size());
  std::string_view mantissa = number.substr(0, e);
  long exponent = 0;
  if (e < number.size()) {
    std::string_view digits = number.substr(e + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (parsed.ec != std::errc()) return digits.starts_with('-');
  }
  auto first_digit = mantissa.find_first_of("123456789");
  if (first_digit == mantissa.npos) return true;
  auto point = std::min(mantissa.find('.'), mantissa.size());
  // Compared, not added: the exponent may be as large as a long can be.
  return exponent < static_cast<long>(first_digit) - static_cast<long>(point);
}

template <class T>
std::string format_shortest(T value, DoubleStyle style) {
  char buffer[64];
  auto written =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  std::string_view text(buffer, written.ptr);
  std::string out;
  if (text.front() == '-') {
    out += '-';
    text.remove_prefix(1);
  }
  auto [mantissa, exponent_text] = cut(text, 'e');
  std::string digits(1, mantissa.front());
  if (mantissa.size() > 2) digits += mantissa.substr(2);
  int exponent = 0;
  if (exponent_text.front() == '+') exponent_text.remove_prefix(1);
  std::from_chars(exponent_text.data(), exponent_text.data() + exponent_text.size(), exponent);

  if (value != 0 && (exponent < style.plain_from || exponent >= style.plain_until)) {
    return out + fmt::format("{}e{}{:0{}}", mantissa, exponent < 0 ? '-' : '+', std::abs(exponent),
                             style.exponent_digits);
  }
  if (exponent < 0) {
    return out + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  }
  auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) return out + digits + std::string(whole - digits.size(), '0');
  return out + digits.insert(whole, 1, '.');
}

}  // namespace

std::string_view trim(std::string_view text) {
  auto first = text.find_first_not_of(kWhiteSpace);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kWhiteSpace) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::pair<std::string_view, std::string_view> cut(std::string_view text, char separator) {
  auto at = text.find(separator);
  if (at == text.npos) return {text, {}};
  return {text.substr(0, at), text.substr(at + 1)};
}

std::string to_lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

std::string quote(std::string_view text) {
  constexpr std::size_t kShown = 80;
  std::string out = "\"";
  std::size_t at = 0;
  while (at < text.size() && at < kShown) {
    auto c = static_cast<unsigned char>(text[at]);
    std::size_t length = utf8_length(text.substr(at));
    if (length == 0 || c < 0x20 || c == 0x7f) {
      if (c == '\n')
        out += "\\n";
      else if (c == '\t')
        out += "\\t";
      else
        out += fmt::format("\\x{:02x}", c);
      ++at;
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += text.substr(at, length);
    at += length;
  }
  return out + (at < text.size() ? "\"..." : "\"");
}

namespace detail {

Result<std::int64_t> parse_signed(std::string_view text, int base, std::int64_t low,
                                  std::int64_t high) {
  return parse_integer<std::int64_t>(text, base, low, high);
}

Result<std::uint64_t> parse_unsigned(std::string_view text, int base, std::uint64_t high) {
  return parse_integer<std::uint64_t>(text, base, 0, high);
}

}  // namespace detail

Result<double> parse_double(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, value);
  bool is_number = error != std::errc::invalid_argument && stop == end &&
                   text.find_first_not_of("+-.0123456789eE") == text.npos;
  if (!is_number)
    return fail(Code::invalid, fmt::format("expected a number, found {}", quote(text)));
  if (error == std::errc::result_out_of_range) {
    if (is_tiny(text)) return text.front() == '-' ? -0.0 : 0.0;
    return fail(Code::invalid, fmt::format("{} is out of range for a number", quote(text)));
  }
  return value;
}

std::string format_double(double finite, DoubleStyle style) {
  return format_shortest(finite, style);
}

std::string format_double(float finite, DoubleStyle style) {
  return format_shortest(finite, style);
}

TextPosition position_of(std::string_view text, std::size_t offset) {
  TextPosition position;
  for (char c : text.substr(0, offset)) {
    if (c == '\n') {
      ++position.line;
      position.column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) {
      ++position.column;
    }
  }
  return position;
}

std::string located(std::string_view source, TextPosition position, std::string_view message) {
  if (source.empty())
    return fmt::format("line {}, column {}: {}", position.line, position.column, message);
  return fmt::format("{}:{}:{}: {}", source, position.line, position.column, message);
}

std::size_t utf8_length(std::string_view text) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  auto continues = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xc0) == 0x80; };
  if (text.empty()) return 0;
  unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  if (first < 0xe0) return continues(1) ? 2 : 0;
  if (first < 0xf0) {
    if (!continues(1) || !continues(2)) return 0;
    if (first == 0xe0 && byte(1) < 0xa0) return 0;   // shorter form exists
    if (first == 0xed && byte(1) >= 0xa0) return 0;  // half of a surrogate pair
    return 3;
  }
  if (first > 0xf4 || !continues(1) || !continues(2) || !continues(3)) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) >= 0x90) return 0;  // past U+10FFFF
  return 4;
}

std::optional<std::size_t> find_invalid_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t length = utf8_length(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

}  // namespace plim
