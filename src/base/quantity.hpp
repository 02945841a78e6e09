// Quantities of Kubernetes resources: "500m", "1.5Gi", "2e3".
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace plim {

// Exact down to nano (1e-9), as in Kubernetes; finer input is rounded away from zero. The range is
// about 1.7e29, far beyond every int64 that Kubernetes makes of it; arithmetic saturates instead of
// wrapping. Equal amounts are equal in any format.
class Quantity {
 public:
  // The format for printing; kept from the parsed text.
  enum class Format { decimal_si, binary_si, decimal_exponent };

  Quantity() = default;

  explicit Quantity(std::int64_t value, Format format = Format::decimal_si)
      : nanos_(static_cast<Nanos128>(value) * kNano), format_(format) {}

  static Quantity from_milli(std::int64_t milli, Format format = Format::decimal_si);

  static Quantity from_bytes(std::int64_t bytes) { return Quantity(bytes, Format::binary_si); }

  // Rounded away from zero, and limited to the range of int64.
  std::int64_t value() const;
  std::int64_t milli_value() const;
  double approximate() const;

  Format format() const { return format_; }

  bool is_zero() const { return nanos_ == 0; }

  // Kubernetes' canonical form: no fraction, the largest suffix without loss. "1.5Gi" becomes
  // "1536Mi", "0.5" becomes "500m".
  std::string to_string() const;

  // A zero takes the format of the other operand, as in Kubernetes.
  Quantity& operator+=(const Quantity& other);
  Quantity& operator-=(const Quantity& other);
  Quantity& operator*=(std::int64_t factor);
  Quantity operator-() const;

  friend Quantity operator+(Quantity a, const Quantity& b) { return a += b; }

  friend Quantity operator-(Quantity a, const Quantity& b) { return a -= b; }

  friend Quantity operator*(Quantity a, std::int64_t factor) { return a *= factor; }

  friend std::strong_ordering operator<=>(const Quantity& a, const Quantity& b) {
    return a.nanos_ <=> b.nanos_;
  }

  friend bool operator==(const Quantity& a, const Quantity& b) { return a.nanos_ == b.nanos_; }

 private:
  friend Result<Quantity> parse_quantity(std::string_view text);
  __extension__ using Nanos128 = __int128;
  static constexpr Nanos128 kNano = 1'000'000'000;

  Nanos128 nanos_ = 0;
  Format format_ = Format::decimal_si;
};

// sign? (digits | digits '.' digits? | '.' digits) suffix?, where the suffix is one of
// n u m k M G T P E, of Ki Mi Gi Ti Pi Ei, or an exponent such as e3. Binary amounts end at 2^63-1.
Result<Quantity> parse_quantity(std::string_view text);

}  // namespace plim
