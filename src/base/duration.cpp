#include "base/duration.hpp"

#include <array>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"

namespace plim {
namespace {

constexpr std::uint64_t kMicro = 1'000;
constexpr std::uint64_t kMilli = 1'000'000;
constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kMinute = 60 * kSecond;
constexpr std::uint64_t kHour = 60 * kMinute;
// The magnitude of the smallest int64, one more than the largest.
constexpr std::uint64_t kLimit = std::uint64_t{1} << 63;

struct Unit {
  std::string_view name;
  std::uint64_t nanos;
};

// Accepts both letters that look like a micro sign: U+00B5 and U+03BC.
constexpr std::array kUnits{Unit{"ns", 1},           Unit{"us", kMicro}, Unit{"\u00b5s", kMicro},
                            Unit{"\u03bcs", kMicro}, Unit{"ms", kMilli}, Unit{"s", kSecond},
                            Unit{"m", kMinute},      Unit{"h", kHour}};

Error bad_duration(std::string_view text, std::string_view why) {
  return fail(Code::invalid, fmt::format("duration {}: {}", quote(text), why));
}

// whole.fraction units; nothing if the result is too long.
std::optional<std::uint64_t> multiply(std::string_view whole, std::string_view fraction,
                                      std::uint64_t unit) {
  std::uint64_t count = 0;
  for (char c : whole) {
    auto digit = static_cast<std::uint64_t>(c - '0');
    if (count > (kLimit - digit) / 10) return std::nullopt;
    count = count * 10 + digit;
  }
  if (count > kLimit / unit) return std::nullopt;
  std::uint64_t nanos = count * unit;
  // Digits after the eighteenth are far below a nanosecond in any unit.
  std::uint64_t digits = 0;
  std::uint64_t scale = 1;
  for (char c : fraction.substr(0, 18)) {
    digits = digits * 10 + static_cast<std::uint64_t>(c - '0');
    scale *= 10;
  }
  __extension__ using Wide = unsigned __int128;
  auto extra = static_cast<std::uint64_t>(static_cast<Wide>(digits) * unit / scale);
  if (nanos > kLimit - extra) return std::nullopt;
  return nanos + extra;
}

}  // namespace

Result<Nanos> parse_duration(std::string_view text) {
  std::string_view rest = text;
  bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  if (rest == "0") return Nanos(0);
  if (rest.empty()) return bad_duration(text, "expected a number and a unit, such as 1h30m");

  std::uint64_t total = 0;
  auto take_digits = [&] {
    auto count = std::min(rest.find_first_not_of("0123456789"), rest.size());
    std::string_view digits = rest.substr(0, count);
    rest.remove_prefix(count);
    return digits;
  };
  while (!rest.empty()) {
    std::string_view whole = take_digits();
    std::string_view fraction;
    if (rest.starts_with('.')) {
      rest.remove_prefix(1);
      fraction = take_digits();
    }
    if (whole.empty() && fraction.empty()) {
      return bad_duration(text, fmt::format("expected a number, found {}", quote(rest)));
    }
    std::string_view name = rest.substr(0, rest.find_first_of(".0123456789"));
    rest.remove_prefix(name.size());
    const Unit* unit = nullptr;
    for (const Unit& known : kUnits)
      if (known.name == name) unit = &known;
    if (!unit) {
      return bad_duration(
          text, name.empty()
                    ? "expected a unit after the number: ns us ms s m h"
                    : fmt::format("unknown unit {}, expected ns us ms s m h", quote(name)));
    }
    auto nanos = multiply(whole, fraction, unit->nanos);
    if (!nanos || total > kLimit - *nanos) return bad_duration(text, "longer than 292 years");
    total += *nanos;
  }
  if (negative) return Nanos(static_cast<std::int64_t>(0 - total));
  if (total == kLimit) return bad_duration(text, "longer than 292 years");
  return Nanos(static_cast<std::int64_t>(total));
}

std::string format_duration(Nanos duration) {
  std::int64_t count = duration.count();
  if (count == 0) return "0s";
  std::uint64_t nanos =
      count < 0 ? 0 - static_cast<std::uint64_t>(count) : static_cast<std::uint64_t>(count);
  std::string out = count < 0 ? "-" : "";
  auto with_fraction = [&out](std::uint64_t amount, std::uint64_t unit, int digits) {
    out += fmt::format("{}", amount / unit);
    if (amount % unit == 0) return;
    std::string fraction = fmt::format(".{:0{}}", amount % unit, digits);
    out += fraction.substr(0, fraction.find_last_not_of('0') + 1);
  };
  if (nanos < kMicro) return out + fmt::format("{}ns", nanos);
  if (nanos < kMilli) {
    with_fraction(nanos, kMicro, 3);
    return out + "\u00b5s";
  }
  if (nanos < kSecond) {
    with_fraction(nanos, kMilli, 6);
    return out + "ms";
  }
  if (nanos >= kHour) out += fmt::format("{}h", nanos / kHour);
  if (nanos >= kMinute) out += fmt::format("{}m", nanos / kMinute % 60);
  with_fraction(nanos % kMinute, kSecond, 9);
  return out + "s";
}

std::string human_duration(Nanos duration) {
  using std::chrono::duration_cast;
  std::int64_t seconds = duration_cast<std::chrono::seconds>(duration).count();
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  std::int64_t minutes = seconds / 60;
  std::int64_t hours = minutes / 60;
  std::int64_t days = hours / 24;
  std::int64_t years = days / 365;
  // Omits the second unit if it is zero.
  auto two = [](std::int64_t major, char unit, std::int64_t minor, char minor_unit) {
    return minor == 0 ? fmt::format("{}{}", major, unit)
                      : fmt::format("{}{}{}{}", major, unit, minor, minor_unit);
  };
  if (seconds < 120) return fmt::format("{}s", seconds);
  if (minutes < 10) return two(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return fmt::format("{}m", minutes);
  if (hours < 8) return two(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return fmt::format("{}h", hours);
  if (days < 8) return two(days, 'd', hours % 24, 'h');
  if (days < 730) return fmt::format("{}d", days);
  if (years < 8) return two(years, 'y', days % 365, 'd');
  return fmt::format("{}y", years);
}

}  // namespace plim
