#include "base/rfc3339.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace plim {
namespace {

using namespace std::chrono_literals;

WallTime at(std::int64_t seconds, Nanos rest = 0ns) {
  return WallTime(std::chrono::seconds(seconds)) + rest;
}

TEST(Rfc3339, reads_time_stamps) {
  EXPECT_EQ(*parse_rfc3339("1970-01-01T00:00:00Z"), at(0));
  EXPECT_EQ(*parse_rfc3339("2024-01-02T03:04:05Z"), at(1704164645));
  EXPECT_EQ(*parse_rfc3339("2024-01-02T03:04:05.123456Z"), at(1704164645, 123456us));
  EXPECT_EQ(*parse_rfc3339("2024-01-02T03:04:05.000000001Z"), at(1704164645, 1ns));
  EXPECT_EQ(*parse_rfc3339("2024-01-02T03:04:05.1234567899Z"), at(1704164645, 123456789ns));
  EXPECT_EQ(*parse_rfc3339("2024-01-02T05:34:05+02:30"), at(1704164645));
  EXPECT_EQ(*parse_rfc3339("2024-01-01T23:04:05-04:00"), at(1704164645));
  EXPECT_EQ(*parse_rfc3339("2000-02-29T00:00:00Z"), at(951782400));
  EXPECT_EQ(*parse_rfc3339("1969-12-31T23:59:59.5Z"), at(-1, 500ms));
}

TEST(Rfc3339, rejects_invalid_times) {
  for (const char* bad : {"",
                          "2024-01-02",
                          "2024-01-02T03:04:05",
                          "2024-01-02 03:04:05Z",
                          "2024-1-2T03:04:05Z",
                          "2023-02-29T00:00:00Z",
                          "1900-02-29T00:00:00Z",
                          "2024-13-01T00:00:00Z",
                          "2024-00-01T00:00:00Z",
                          "2024-04-31T00:00:00Z",
                          "2024-01-02T24:00:00Z",
                          "2024-01-02T03:60:00Z",
                          "2024-01-02T03:04:60Z",
                          "2024-01-02T03:04:05.Z",
                          "2024-01-02T03:04:05z",
                          "2024-01-02T03:04:05+2:00",
                          "2024-01-02T03:04:05+0200",
                          "2024-01-02T03:04:05+24:00",
                          "2024-01-02T03:04:05Zx",
                          "+024-01-02T03:04:05Z",
                          "2024-01-02T03:04Z"})
    EXPECT_FALSE(parse_rfc3339(bad)) << bad;
  EXPECT_EQ(parse_rfc3339("2024-01-02T03:04:05").error().message,
            "time \"2024-01-02T03:04:05\": expected Z or an offset such as +02:00 at its end");
}

TEST(Rfc3339, rejects_years_out_of_range) {
  EXPECT_TRUE(parse_rfc3339("1677-09-21T00:12:44Z"));
  EXPECT_TRUE(parse_rfc3339("2262-04-11T23:47:15.999999999Z"));
  for (const char* far : {"0001-01-01T00:00:00Z", "1677-09-21T00:12:43Z", "2262-04-11T23:47:16Z",
                          "9999-12-31T23:59:59Z", "0000-01-01T00:00:00+23:59"})
    EXPECT_EQ(parse_rfc3339(far).error().message,
              "time \"" + std::string(far) + "\": expected a year from 1678 to 2261");
}

TEST(Rfc3339, prints_three_forms) {
  EXPECT_EQ(format_rfc3339(at(1704164645, 999ms)), "2024-01-02T03:04:05Z");
  EXPECT_EQ(format_rfc3339_micro(at(1704164645)), "2024-01-02T03:04:05.000000Z");
  EXPECT_EQ(format_rfc3339_micro(at(1704164645, 1999ns)), "2024-01-02T03:04:05.000001Z");
  EXPECT_EQ(format_rfc3339_nano(at(1704164645)), "2024-01-02T03:04:05Z");
  EXPECT_EQ(format_rfc3339_nano(at(1704164645, 120ms)), "2024-01-02T03:04:05.12Z");
  EXPECT_EQ(format_rfc3339_nano(at(-1, 1ns)), "1969-12-31T23:59:59.000000001Z");
  EXPECT_EQ(format_rfc3339(WallTime::max()), "2262-04-11T23:47:16Z");
  EXPECT_EQ(format_rfc3339_nano(WallTime::min()), "1677-09-21T00:12:43.145224192Z");
  EXPECT_EQ(format_rfc3339_nano(WallTime::max()), "2262-04-11T23:47:16.854775807Z");
}

RC_GTEST_PROP(Rfc3339, reads_what_it_prints, (std::int32_t high, std::uint32_t low)) {
  WallTime time(Nanos((static_cast<std::int64_t>(high) << 32 | low) / 2));
  RC_ASSERT(*parse_rfc3339(format_rfc3339_nano(time)) == time);
  RC_ASSERT(*parse_rfc3339(format_rfc3339_micro(time)) ==
            std::chrono::floor<std::chrono::microseconds>(time));
  RC_ASSERT(*parse_rfc3339(format_rfc3339(time)) == std::chrono::floor<std::chrono::seconds>(time));
}

}  // namespace
}  // namespace plim
