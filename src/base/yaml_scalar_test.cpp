#include "base/yaml_scalar.hpp"

#include <gtest/gtest.h>

namespace plim {
namespace {

struct Case {
  std::string_view text;
  std::string_view json;
};

// The results of `kubectl create --dry-run=client -o json` for unquoted scalars.
constexpr Case kCases[] = {
    {"", "null"},
    {"~", "null"},
    {"null", "null"},
    {"Null", "null"},
    {"nULL", R"("nULL")"},
    {"yes", "true"},
    {"Y", "true"},
    {"on", "true"},
    {"TRUE", "true"},
    {"tRUE", R"("tRUE")"},
    {"no", "false"},
    {"n", "false"},
    {"Off", "false"},
    {"0", "0"},
    {"-0", "0"},
    {"42", "42"},
    {"+42", "42"},
    {"0777", "511"},
    {"-017", "-15"},
    {"0o777", "511"},
    {"0x1F", "31"},
    {"-0XfF", "-255"},
    {"0b101", "5"},
    {"0B11", "3"},
    {"1_000", "1000"},
    {"1__0_", "10"},
    {"_1", R"("_1")"},
    {"089", "89"},
    {"0x", R"("0x")"},
    {"0xg", R"("0xg")"},
    {"-", R"("-")"},
    {"+", R"("+")"},
    {"-_", R"("-_")"},
    {"9223372036854775807", "9223372036854775807"},
    {"-9223372036854775808", "-9223372036854775808"},
    {"9223372036854775808", "9223372036854775808"},
    {"18446744073709551615", "18446744073709551615"},
    {"18446744073709551616", "18446744073709552000"},
    {"+18446744073709551615", "18446744073709552000"},
    {"-9223372036854775809", "-9223372036854776000"},
    {"0x10000000000000000", "18446744073709552000"},
    {"1.5", "1.5"},
    {"1.", "1"},
    {".5", "0.5"},
    {"-.5", "-0.5"},
    {"+.5e1", "5"},
    {"1e3", "1000"},
    {"1_0.5", "10.5"},
    {"._5", R"("._5")"},
    {".", R"(".")"},
    {"1e", R"("1e")"},
    {"1e999", R"("1e999")"},
    {"1e-999", "0"},
    {"1.2.3", R"("1.2.3")"},
    {"12e03", "12000"},
    {"2001-01-02", R"("2001-01-02")"},
    {"2001-12-14t21:59:43.10-05:00", R"("2001-12-14t21:59:43.10-05:00")"},
    {"190:20:30", R"("190:20:30")"},
    {"<<", R"("<<")"},
    {"1Gi", R"("1Gi")"},
    {"1.2.3.4", R"("1.2.3.4")"},
};

TEST(YamlScalar, resolves_as_kubectl_does) {
  for (const Case& c : kCases) {
    auto value = resolve_plain_scalar(c.text);
    EXPECT_EQ(value ? to_json(*value) : value.error().message, c.json) << c.text;
  }
}

TEST(YamlScalar, rejects_numbers_that_json_lacks) {
  for (const char* text : {".inf", "-.Inf", "+.INF", ".nan", ".NaN"})
    EXPECT_FALSE(resolve_plain_scalar(text)) << text;
  EXPECT_FALSE(resolve_plain_scalar(std::string(400, '9')));
  EXPECT_FALSE(resolve_plain_scalar("0x" + std::string(400, 'f')));
}

TEST(YamlScalar, finds_scalars_that_need_quotes) {
  for (const char* text :
       {"", "~", "yes", "1", "0x1f", "1_000", ".5", ".nan", "2024-01-02", "2024-1-2",
        "2024-01-02T03:04:05Z", "1:30", "-1:30:00.5", "<<", "=", "1e3"})
    EXPECT_TRUE(is_ambiguous_scalar(text)) << text;
  for (const char* text : {"a", "yess", "1Gi", "v1", "2024-x", "10.0.0.1", "a:b", "-x", "1e999x"})
    EXPECT_FALSE(is_ambiguous_scalar(text)) << text;
}

}  // namespace
}  // namespace plim
