#include "base/duration.hpp"

#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace plim {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kLongest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMinInt = std::numeric_limits<std::int64_t>::min();

TEST(Duration, reads_go_durations) {
  EXPECT_EQ(*parse_duration("0"), 0ns);
  EXPECT_EQ(*parse_duration("+0"), 0ns);
  EXPECT_EQ(*parse_duration("5s"), 5s);
  EXPECT_EQ(*parse_duration("-1.5h"), -90min);
  EXPECT_EQ(*parse_duration("1h15m30.918s"), 1h + 15min + 30918ms);
  EXPECT_EQ(*parse_duration("5.s"), 5s);
  EXPECT_EQ(*parse_duration(".5s"), 500ms);
  EXPECT_EQ(*parse_duration("10ns11us12µs13μs14ms"), 14'036'010ns);
  EXPECT_EQ(*parse_duration("39h9m14.425s"), 39h + 9min + 14425ms);
  EXPECT_EQ(*parse_duration("0.3333333333333333333h"), 20min - 1ns);
  EXPECT_EQ(*parse_duration("0.100000000000000000000h"), 6min);
  EXPECT_EQ(*parse_duration("9223372036854775807ns"), Nanos(kLongest));
  EXPECT_EQ(*parse_duration("9223372036.854775807s"), Nanos(kLongest));
  EXPECT_EQ(*parse_duration("-9223372036854775808ns"), Nanos(kMinInt));
}

TEST(Duration, rejects_invalid_durations) {
  for (const char* bad : {"",
                          "3",
                          "-",
                          "s",
                          ".",
                          "-.",
                          ".s",
                          "+.s",
                          "1d",
                          "1hh",
                          "1h 30m",
                          " 1h",
                          "1m3",
                          "9223372036854775808ns",
                          "9223372036854775.808us",
                          "-9223372036854775809ns",
                          "3000000h",
                          "99999999999999999999h",
                          "1.5.5s",
                          "--1s",
                          "1e3s"})
    EXPECT_FALSE(parse_duration(bad)) << bad;
  EXPECT_EQ(parse_duration("1d").error().message,
            "duration \"1d\": unknown unit \"d\", expected ns us ms s m h");
  EXPECT_EQ(parse_duration("10").error().message,
            "duration \"10\": expected a unit after the number: ns us ms s m h");
}

TEST(Duration, prints_as_go_does) {
  EXPECT_EQ(format_duration(0ns), "0s");
  EXPECT_EQ(format_duration(1ns), "1ns");
  EXPECT_EQ(format_duration(1100ns), "1.1µs");
  EXPECT_EQ(format_duration(2200us), "2.2ms");
  EXPECT_EQ(format_duration(3300ms), "3.3s");
  EXPECT_EQ(format_duration(4min + 5s), "4m5s");
  EXPECT_EQ(format_duration(4min + 5001ms), "4m5.001s");
  EXPECT_EQ(format_duration(5h + 6min + 7001ms), "5h6m7.001s");
  EXPECT_EQ(format_duration(8min + 1ns), "8m0.000000001s");
  EXPECT_EQ(format_duration(1h), "1h0m0s");
  EXPECT_EQ(format_duration(-90min), "-1h30m0s");
  EXPECT_EQ(format_duration(Nanos(kLongest)), "2562047h47m16.854775807s");
  EXPECT_EQ(format_duration(Nanos(kMinInt)), "-2562047h47m16.854775808s");
}

TEST(Duration, prints_ages_as_kubectl_does) {
  constexpr auto day = 24h;
  EXPECT_EQ(human_duration(-2s), "<invalid>");
  EXPECT_EQ(human_duration(-1s), "0s");
  EXPECT_EQ(human_duration(0s), "0s");
  EXPECT_EQ(human_duration(1999ms), "1s");
  EXPECT_EQ(human_duration(119s), "119s");
  EXPECT_EQ(human_duration(120s), "2m");
  EXPECT_EQ(human_duration(2min + 5s), "2m5s");
  EXPECT_EQ(human_duration(9min + 59s), "9m59s");
  EXPECT_EQ(human_duration(10min + 59s), "10m");
  EXPECT_EQ(human_duration(179min), "179m");
  EXPECT_EQ(human_duration(3h), "3h");
  EXPECT_EQ(human_duration(7h + 59min), "7h59m");
  EXPECT_EQ(human_duration(8h + 59min), "8h");
  EXPECT_EQ(human_duration(47h), "47h");
  EXPECT_EQ(human_duration(48h), "2d");
  EXPECT_EQ(human_duration(3 * day + 4h), "3d4h");
  EXPECT_EQ(human_duration(7 * day + 23h), "7d23h");
  EXPECT_EQ(human_duration(8 * day + 23h), "8d");
  EXPECT_EQ(human_duration(729 * day), "729d");
  EXPECT_EQ(human_duration(730 * day), "2y");
  EXPECT_EQ(human_duration(740 * day), "2y10d");
  EXPECT_EQ(human_duration(7 * 365 * day + 364 * day), "7y364d");
  EXPECT_EQ(human_duration(8 * 365 * day + 364 * day), "8y");
}

RC_GTEST_PROP(Duration, reads_what_it_prints, (std::int64_t nanos)) {
  nanos >>= *rc::gen::inRange(0, 60);
  RC_ASSERT(*parse_duration(format_duration(Nanos(nanos))) == Nanos(nanos));
}

}  // namespace
}  // namespace plim
