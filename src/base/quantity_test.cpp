#include "base/quantity.hpp"

#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace plim {
namespace {

using Format = Quantity::Format;
constexpr std::int64_t kMaxInt = std::numeric_limits<std::int64_t>::max();

struct Canonical {
  std::string_view text;
  std::string_view canonical;
};

// From Kubernetes' documentation of quantities and its tests.
constexpr Canonical kCanonical[] = {
    {"0", "0"},
    {"00", "0"},
    {"0Ki", "0"},
    {"0n", "0"},
    {"1", "1"},
    {"+1", "1"},
    {"1.", "1"},
    {"1000m", "1"},
    {"1.5", "1500m"},
    {"0.5", "500m"},
    {".001", "1m"},
    {"1.08", "1080m"},
    {"1080000000n", "1080m"},
    {"1.2345", "1234500u"},
    {"1000u", "1m"},
    {"100.035k", "100035"},
    {"8.1k", "8100"},
    {"1.G", "1G"},
    {"1000M", "1G"},
    {"0.001T", "1G"},
    {"300M", "300M"},
    {"1234567M", "1234567M"},
    {"1E", "1E"},
    {"12E", "12E"},
    {"1000E", "1e21"},
    {"1000000E", "1e24"},
    {"18446744073709551616", "18446744073709551616"},
    {"1Ki", "1Ki"},
    {"1.5Gi", "1536Mi"},
    {"1024Mi", "1Gi"},
    {"307200Ki", "300Mi"},
    {"1025024Mi", "1001Gi"},
    {"0.5Mi", "512Ki"},
    {"0.5Ki", "512"},
    {"0.05Gi", "53687091200m"},
    {"100.035Ki", "102435840m"},
    {".001Ki", "1024m"},
    {".000000000001Ki", "2n"},
    {"9Ei", "9223372036854775807"},
    {"8Ei", "9223372036854775807"},
    {"9223372036854775807Ki", "9223372036854775807"},
    {"7Ei", "7Ei"},
    {"1e3", "1e3"},
    {"1E6", "1e6"},
    {"1.3E+6", "1300e3"},
    {"1.2e3", "1200"},
    {"0.001e0", "1e-3"},
    {"1E-3", "1e-3"},
    {".001e12", "1e9"},
    {"1000e-12", "1e-9"},
    {"80e-3", "80e-3"},
    {"3.001n", "4n"},
    {"0.9n", "1n"},
    {"1.1E-9", "2e-9"},
    {"0.00000012345", "124n"},
    {"1e-100", "1e-9"},
    {"0e2000000000", "0"},
    {"1e28", "10e27"},
};

TEST(Quantity, prints_the_canonical_form) {
  for (const Canonical& c : kCanonical) {
    auto parsed = parse_quantity(c.text);
    ASSERT_TRUE(parsed) << c.text << ": " << parsed.error().message;
    EXPECT_EQ(parsed->to_string(), c.canonical) << c.text;
    if (parsed->is_zero() || c.text.starts_with('+')) continue;
    EXPECT_EQ(parse_quantity("-" + std::string(c.text))->to_string(),
              "-" + std::string(c.canonical));
  }
}

TEST(Quantity, keeps_the_format_of_its_text) {
  EXPECT_EQ(parse_quantity("1k")->format(), Format::decimal_si);
  EXPECT_EQ(parse_quantity("0Ki")->format(), Format::binary_si);
  EXPECT_EQ(parse_quantity("1e3")->format(), Format::decimal_exponent);
  EXPECT_EQ(parse_quantity("1E")->format(), Format::decimal_si);
  EXPECT_EQ(parse_quantity("0.0001Ki")->format(), Format::decimal_si) << "less than one";
}

TEST(Quantity, rejects_invalid_quantities) {
  for (const char* bad :
       {"",      ".",    "-",   "+",  "Ki",     "m",       "1.1.M", "1+1.0M",       "0.1mi",
        "0.1am", "aoeu", ".5i", "1i", "-3.01i", "-3.01e-", "1e",    "1e+",          "1e+-3",
        "1e3.5", " 1",   "1 ",  "1K", "1KI",    "--1",     "1_000", "1e99999999999"})
    EXPECT_FALSE(parse_quantity(bad)) << bad;
  EXPECT_EQ(
      parse_quantity("1Kb").error().message,
      "quantity \"1Kb\" ends in \"Kb\", expected one of n u m k M G T P E, Ki Mi Gi Ti Pi Ei, "
      "or an exponent such as e3");
  EXPECT_EQ(parse_quantity("x").error().message,
            "expected a quantity such as 500m or 1Gi, found \"x\"");
  EXPECT_FALSE(parse_quantity("1e30"));
  EXPECT_FALSE(parse_quantity("1e2000000000"));
}

TEST(Quantity, values_round_away_from_zero) {
  EXPECT_EQ(parse_quantity("9.01")->value(), 10);
  EXPECT_EQ(parse_quantity("-9.01")->value(), -10);
  EXPECT_EQ(parse_quantity("1n")->value(), 1);
  EXPECT_EQ(parse_quantity("1n")->milli_value(), 1);
  EXPECT_EQ(parse_quantity("1500m")->milli_value(), 1500);
  EXPECT_EQ(parse_quantity("1.5Gi")->value(), 1610612736);
  EXPECT_EQ(parse_quantity("1e28")->value(), kMaxInt);
  EXPECT_EQ(parse_quantity("-100E")->milli_value(), std::numeric_limits<std::int64_t>::min());
  EXPECT_DOUBLE_EQ(parse_quantity("250m")->approximate(), 0.25);
}

TEST(Quantity, adds_and_subtracts) {
  auto q = [](std::string_view text) { return *parse_quantity(text); };
  EXPECT_EQ((q("1Gi") + q("1Gi")).to_string(), "2Gi");
  EXPECT_EQ((q("1") - q("250m")).to_string(), "750m");
  EXPECT_EQ((q("0") + q("1Gi")).to_string(), "1Gi") << "a zero takes the other's format";
  EXPECT_EQ((q("0") - q("1Gi")).to_string(), "-1Gi");
  EXPECT_EQ((q("1Gi") + q("0")).to_string(), "1Gi");
  EXPECT_EQ((q("100m") * 15).to_string(), "1500m");
  EXPECT_EQ((q("1Ki") * -3).to_string(), "-3Ki");
  EXPECT_LT(q("100Gi"), q("10000T"));
  EXPECT_EQ(q("1024"), q("1Ki"));
  EXPECT_EQ(Quantity::from_milli(1234000).to_string(), "1234");
  EXPECT_EQ(Quantity::from_bytes(1 << 20).to_string(), "1Mi");
}

TEST(Quantity, arithmetic_saturates) {
  Quantity huge = *parse_quantity("1e29");
  EXPECT_EQ(huge + huge, huge * 1000);
  EXPECT_EQ(-huge - huge, huge * -1000);
  EXPECT_GT(huge + huge, huge);
}

std::string quantity_text() {
  std::string text = *rc::gen::element<std::string>("", "-", "+");
  auto digits = [](int most) {
    std::string out;
    for (int n = *rc::gen::inRange(1, most); n > 0; --n)
      out += static_cast<char>('0' + *rc::gen::inRange(0, 10));
    return out;
  };
  text += digits(12);
  if (*rc::gen::arbitrary<bool>()) text += "." + digits(15);
  return text + *rc::gen::element<std::string>("", "n", "u", "m", "k", "M", "G", "T", "P", "E",
                                               "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E-3",
                                               "e+6", "e-12");
}

RC_GTEST_PROP(Quantity, reads_what_it_prints, ()) {
  auto parsed = parse_quantity(quantity_text());
  RC_PRE(parsed.has_value());
  auto again = parse_quantity(parsed->to_string());
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == *parsed);
  RC_ASSERT(again->to_string() == parsed->to_string());
}

// Compares whole multiples of a nano with plain integer arithmetic.
RC_GTEST_PROP(Quantity, orders_and_adds_like_numbers, (std::int32_t a, std::int32_t b)) {
  auto nano = [](std::int64_t n) { return *parse_quantity(std::to_string(n) + "n"); };
  RC_ASSERT((nano(a) <=> nano(b)) == (a <=> b));
  RC_ASSERT(nano(a) + nano(b) == nano(std::int64_t{a} + b));
  RC_ASSERT(nano(a) - nano(b) == nano(std::int64_t{a} - b));
  RC_ASSERT(nano(a) * b == nano(std::int64_t{a} * b));
}

// digits * 10^-places * 2^(10 * power), by exact integer division.
RC_GTEST_PROP(Quantity, binary_fractions_are_exact, (std::uint32_t digits)) {
  int places = *rc::gen::inRange(0, 9);
  int power = *rc::gen::inRange(1, 3);
  std::string text = fmt::format("{:010}", digits);
  text.insert(text.size() - static_cast<std::size_t>(places), ".");
  text += power == 1 ? "Ki" : "Mi";
  __extension__ __int128 nanos = static_cast<__int128>(digits) << (10 * power);
  for (int i = places; i < 9; ++i) nanos *= 10;
  RC_ASSERT(*parse_quantity(text) == *parse_quantity(fmt::format("{}n", nanos)));
}

}  // namespace
}  // namespace plim
