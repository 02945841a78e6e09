#include "base/quantity.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"

namespace plim {
namespace {

__extension__ using Int128 = __int128;
using Format = Quantity::Format;

constexpr Int128 kNano = 1'000'000'000;
constexpr Int128 kMax = static_cast<Int128>(~static_cast<unsigned __int128>(0) >> 1);
constexpr Int128 kMaxBinary = static_cast<Int128>(std::numeric_limits<std::int64_t>::max()) * kNano;

struct Suffix {
  Format format = Format::decimal_si;
  int exponent = 0;  // of ten, or of two for binary_si
};

struct NamedSuffix {
  std::string_view name;
  Suffix suffix;
};

// Ascending within each format.
constexpr std::array kDecimal{
    NamedSuffix{"n", {Format::decimal_si, -9}}, NamedSuffix{"u", {Format::decimal_si, -6}},
    NamedSuffix{"m", {Format::decimal_si, -3}}, NamedSuffix{"", {Format::decimal_si, 0}},
    NamedSuffix{"k", {Format::decimal_si, 3}},  NamedSuffix{"M", {Format::decimal_si, 6}},
    NamedSuffix{"G", {Format::decimal_si, 9}},  NamedSuffix{"T", {Format::decimal_si, 12}},
    NamedSuffix{"P", {Format::decimal_si, 15}}, NamedSuffix{"E", {Format::decimal_si, 18}}};
constexpr std::array kBinary{
    NamedSuffix{"", {Format::binary_si, 0}},    NamedSuffix{"Ki", {Format::binary_si, 10}},
    NamedSuffix{"Mi", {Format::binary_si, 20}}, NamedSuffix{"Gi", {Format::binary_si, 30}},
    NamedSuffix{"Ti", {Format::binary_si, 40}}, NamedSuffix{"Pi", {Format::binary_si, 50}},
    NamedSuffix{"Ei", {Format::binary_si, 60}}};

std::optional<Suffix> parse_suffix(std::string_view text) {
  for (const NamedSuffix& known : kDecimal)
    if (known.name == text) return known.suffix;
  for (const NamedSuffix& known : kBinary)
    if (known.name == text) return known.suffix;
  if (text.front() != 'e' && text.front() != 'E') return std::nullopt;
  text.remove_prefix(1);
  if (text.starts_with('+') && text.size() > 1 && is_digit(text[1])) text.remove_prefix(1);
  auto exponent = parse_int<std::int32_t>(text);
  if (!exponent) return std::nullopt;
  return Suffix{Format::decimal_exponent, *exponent};
}

Int128 divide_up(Int128 amount, Int128 by) {
  return amount / by + (amount % by > 0 ? 1 : amount % by < 0 ? -1 : 0);
}

// digits * unit, rounded up, with the decimal point before digits[point]. Nothing if it is too
// large. Works digit by digit, so neither long fractions nor large exponents lose anything:
// rounding up after each digit gives the same as rounding up once.
std::optional<Int128> scale(std::string_view digits, std::int64_t point, Int128 unit) {
  auto digit = [&](std::int64_t i) -> Int128 {
    return i >= 0 && i < static_cast<std::int64_t>(digits.size())
               ? digits[static_cast<std::size_t>(i)] - '0'
               : 0;
  };
  if (digits.find_first_not_of('0') == digits.npos) return 0;
  Int128 whole = 0;
  for (std::int64_t i = 0; i < point; ++i) {
    if (whole > (kMax - 9 * unit) / 10) return std::nullopt;
    whole = whole * 10 + digit(i) * unit;
  }
  Int128 fraction = 0;
  for (auto i = static_cast<std::int64_t>(digits.size()) - 1; i >= point; --i) {
    if (i < 0 && fraction <= 1) break;  // only zeros are left, and they round up to one
    fraction = divide_up(digit(i) * unit + fraction, 10);
  }
  if (whole > kMax - fraction) return std::nullopt;
  return whole + fraction;
}

std::int64_t to_int64(Int128 amount) {
  using Limits = std::numeric_limits<std::int64_t>;
  if (amount > Limits::max()) return Limits::max();
  if (amount < Limits::min()) return Limits::min();
  return static_cast<std::int64_t>(amount);
}

std::string print_binary(Int128 nanos) {
  Int128 amount = nanos / kNano;
  std::size_t suffix = 0;
  while (suffix + 1 < kBinary.size() && amount % 1024 == 0) {
    amount /= 1024;
    ++suffix;
  }
  return fmt::format("{}{}", amount, kBinary[suffix].name);
}

std::string print_decimal(Int128 nanos, Format format) {
  int exponent = -9;
  for (; nanos % 1000 == 0; nanos /= 1000) exponent += 3;
  if (format == Format::decimal_si) {
    for (const NamedSuffix& known : kDecimal)
      if (known.suffix.exponent == exponent) return fmt::format("{}{}", nanos, known.name);
  }
  return exponent == 0 ? fmt::format("{}", nanos) : fmt::format("{}e{}", nanos, exponent);
}

}  // namespace

Result<Quantity> parse_quantity(std::string_view text) {
  std::string_view rest = text;
  bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  std::string digits;
  std::optional<std::int64_t> point;
  for (; !rest.empty() && (is_digit(rest.front()) || rest.front() == '.'); rest.remove_prefix(1)) {
    if (rest.front() != '.') {
      digits += rest.front();
    } else if (!point) {
      point = static_cast<std::int64_t>(digits.size());
    } else {
      break;
    }
  }
  if (digits.empty()) {
    return fail(Code::invalid,
                fmt::format("expected a quantity such as 500m or 1Gi, found {}", quote(text)));
  }
  auto suffix = parse_suffix(rest);
  if (!suffix) {
    return fail(Code::invalid,
                fmt::format("quantity {} ends in {}, expected one of n u m k M G T P E, "
                            "Ki Mi Gi Ti Pi Ei, or an exponent such as e3",
                            quote(text), quote(rest)));
  }
  std::int64_t point_at = point.value_or(static_cast<std::int64_t>(digits.size()));
  bool binary = suffix->format == Format::binary_si;
  auto nanos = binary ? scale(digits, point_at, kNano << suffix->exponent)
                      : scale(digits, point_at + suffix->exponent, kNano);
  if (binary && (!nanos || *nanos > kMaxBinary)) nanos = kMaxBinary;
  if (!nanos) {
    return fail(Code::invalid,
                fmt::format("quantity {} is out of range, expected less than 1e29", quote(text)));
  }
  Quantity out;
  out.nanos_ = negative ? -*nanos : *nanos;
  bool below_one = *nanos > 0 && *nanos < kNano;
  out.format_ = binary && below_one ? Format::decimal_si : suffix->format;
  return out;
}

Quantity Quantity::from_milli(std::int64_t milli, Format format) {
  Quantity out;
  out.nanos_ = static_cast<Nanos128>(milli) * (kNano / 1000);
  out.format_ = format;
  return out;
}

std::int64_t Quantity::value() const {
  return to_int64(divide_up(nanos_, kNano));
}

std::int64_t Quantity::milli_value() const {
  return to_int64(divide_up(nanos_, kNano / 1000));
}

double Quantity::approximate() const {
  return static_cast<double>(nanos_) / 1e9;
}

std::string Quantity::to_string() const {
  if (nanos_ == 0) return "0";
  bool large = nanos_ >= 1024 * kNano || nanos_ <= -1024 * kNano;
  if (format_ != Format::binary_si) return print_decimal(nanos_, format_);
  // Below 1024, or with a fraction, a binary suffix would lose precision.
  return large && nanos_ % kNano == 0 ? print_binary(nanos_)
                                      : print_decimal(nanos_, Format::decimal_si);
}

Quantity& Quantity::operator+=(const Quantity& other) {
  if (nanos_ == 0) format_ = other.format_;
  if (other.nanos_ > 0)
    nanos_ = nanos_ > kMax - other.nanos_ ? kMax : nanos_ + other.nanos_;
  else
    nanos_ = nanos_ < -kMax - other.nanos_ ? -kMax : nanos_ + other.nanos_;
  return *this;
}

Quantity& Quantity::operator-=(const Quantity& other) {
  return *this += -other;
}

Quantity& Quantity::operator*=(std::int64_t factor) {
  if (factor == 0 || nanos_ == 0) {
    nanos_ = 0;
    return *this;
  }
  bool negative = (factor < 0) != (nanos_ < 0);
  Nanos128 a = nanos_ < 0 ? -nanos_ : nanos_;
  Nanos128 b = factor < 0 ? -static_cast<Nanos128>(factor) : factor;
  Nanos128 product = a > kMax / b ? kMax : a * b;
  nanos_ = negative ? -product : product;
  return *this;
}

Quantity Quantity::operator-() const {
  Quantity out = *this;
  out.nanos_ = -nanos_;
  return out;
}

}  // namespace plim
