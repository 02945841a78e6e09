#include "base/rfc3339.hpp"

#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"

namespace plim {
namespace {

namespace chrono = std::chrono;

// Reads parts of fixed form from the start of a text.
class TimeReader {
 public:
  explicit TimeReader(std::string_view text) : rest_(text) {}

  std::optional<int> number(std::size_t digits, int low, int high) {
    if (rest_.size() < digits) return std::nullopt;
    int value = 0;
    for (char c : rest_.substr(0, digits)) {
      if (!is_digit(c)) return std::nullopt;
      value = value * 10 + (c - '0');
    }
    if (value < low || value > high) return std::nullopt;
    rest_.remove_prefix(digits);
    return value;
  }

  bool skip(char wanted) {
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

std::optional<chrono::year_month_day> read_date(TimeReader& reader) {
  auto year = reader.number(4, 0, 9999);
  if (!year || !reader.skip('-')) return std::nullopt;
  auto month = reader.number(2, 1, 12);
  if (!month || !reader.skip('-')) return std::nullopt;
  auto day = reader.number(2, 1, 31);
  if (!day) return std::nullopt;
  chrono::year_month_day date{chrono::year(*year), chrono::month(static_cast<unsigned>(*month)),
                              chrono::day(static_cast<unsigned>(*day))};
  return date.ok() ? std::optional(date) : std::nullopt;
}

std::optional<chrono::minutes> read_hours_and_minutes(TimeReader& reader) {
  auto hour = reader.number(2, 0, 23);
  if (!hour || !reader.skip(':')) return std::nullopt;
  auto minute = reader.number(2, 0, 59);
  if (!minute) return std::nullopt;
  return chrono::hours(*hour) + chrono::minutes(*minute);
}

std::optional<Nanos> read_fraction(TimeReader& reader) {
  if (!reader.skip('.')) return Nanos(0);
  Nanos fraction(0);
  Nanos place(100'000'000);
  auto digit = reader.number(1, 0, 9);
  if (!digit) return std::nullopt;
  for (; digit; digit = reader.number(1, 0, 9)) {
    fraction += *digit * place;
    place /= 10;
  }
  return fraction;
}

std::optional<chrono::minutes> read_offset(TimeReader& reader) {
  if (reader.skip('Z')) return chrono::minutes(0);
  bool west = reader.skip('-');
  if (!west && !reader.skip('+')) return std::nullopt;
  auto offset = read_hours_and_minutes(reader);
  return offset && west ? -*offset : offset;
}

std::string format_seconds(WallTime time) {
  auto whole = chrono::floor<chrono::seconds>(time);
  auto day = chrono::floor<chrono::days>(whole);
  chrono::year_month_day date(day);
  chrono::hh_mm_ss clock(whole - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::int64_t nanos_of_second(WallTime time) {
  // Not by subtraction: the second that contains the smallest WallTime begins before it.
  constexpr std::int64_t kSecondNanos = 1'000'000'000;
  std::int64_t rest = time.time_since_epoch().count() % kSecondNanos;
  return rest < 0 ? rest + kSecondNanos : rest;
}

}  // namespace

Result<WallTime> parse_rfc3339(std::string_view text) {
  auto wrong = [text](std::string_view expected) {
    return fail(Code::invalid, fmt::format("time {}: expected {}", quote(text), expected));
  };
  TimeReader reader(text);
  auto date = read_date(reader);
  if (!date) return wrong("a date such as 2024-01-02 at its beginning");
  if (!reader.skip('T')) return wrong("T after the date");
  auto minutes = read_hours_and_minutes(reader);
  auto seconds = minutes && reader.skip(':') ? reader.number(2, 0, 59) : std::nullopt;
  if (!seconds) return wrong("a time of day such as 03:04:05");
  auto fraction = read_fraction(reader);
  if (!fraction) return wrong("digits after the decimal point");
  auto offset = read_offset(reader);
  if (!offset || !reader.at_end()) return wrong("Z or an offset such as +02:00 at its end");

  // In seconds first: a thousand years around now would overflow nanoseconds.
  auto whole = chrono::sys_days(*date) + *minutes + chrono::seconds(*seconds) - *offset;
  auto first = chrono::ceil<chrono::seconds>(WallTime::min());
  auto last = chrono::floor<chrono::seconds>(WallTime::max()) - chrono::seconds(1);
  if (whole < first || whole > last) return wrong("a year from 1678 to 2261");
  return WallTime(whole) + *fraction;
}

std::string format_rfc3339(WallTime time) {
  return format_seconds(time) + "Z";
}

std::string format_rfc3339_micro(WallTime time) {
  return fmt::format("{}.{:06}Z", format_seconds(time), nanos_of_second(time) / 1000);
}

std::string format_rfc3339_nano(WallTime time) {
  std::string fraction = fmt::format(".{:09}", nanos_of_second(time));
  fraction.resize(fraction.find_last_not_of('0') + 1);
  return format_seconds(time) + (fraction == "." ? "" : fraction) + "Z";
}

}  // namespace plim
