#include "local/apiserver/schema/rules.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plim::local::apiserver {
namespace {

using namespace rule;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> found(std::span<const Rule> rules, const json::value& object,
                               const json::value* before = nullptr) {
  Causes causes;
  check_rules(rules, Place(object), before, causes);
  std::vector<std::string> out;
  for (const Cause& cause : causes.take()) out.push_back(cause.field + ": " + cause.message);
  return out;
}

TEST(Place, formats_the_path_of_a_value) {
  const json::value object = {{"spec", {{"list", {{{"a", 1}}, {{"a", 2}}}}, {"map", {{"k", 3}}}}}};
  const Place root(object);
  const Place list = root.in("spec.list");
  const Place second = list.at(1);
  EXPECT_EQ(second.path("a"), "spec.list[1].a");
  EXPECT_EQ(second.number("a"), 2);
  const Place map = root.in("spec.map");
  EXPECT_EQ(map.of_key("k").path(), "spec.map[k]");
  EXPECT_EQ(root.under("elsewhere", map.value()).path("k"), "elsewhere.k");
}

TEST(Place, returns_empty_values_for_missing_members) {
  const json::value object = {{"a", "text"}};
  const Place root(object);
  EXPECT_FALSE(root.has("a.b"));
  EXPECT_TRUE(root.in("b.c").value().is_null());
  EXPECT_THAT(root.list("a"), IsEmpty());
  EXPECT_EQ(root.text("b"), "");
}

TEST(Rules, report_a_missing_field_only_once) {
  static constexpr Rule kRules[] = {required("port"), range("port", 1, 9), one_of("name", "a,b")};
  EXPECT_THAT(found(kRules, {{"port", 0}}), ElementsAre("port: Required value"));
  EXPECT_THAT(found(kRules, {{"port", 10}, {"name", "c"}}),
              ElementsAre("port: Invalid value: 10: must be between 1 and 9, inclusive",
                          R"(name: Unsupported value: "c": supported values: "a", "b")"));
}

TEST(Rules, require_unique_names_in_a_list) {
  static constexpr Rule kElement[] = {unique("name"), not_negative("count")};
  static constexpr Rule kRules[] = {each("list", kElement)};
  const json::value object = {
      {"list", {{{"name", "a"}}, {{"name", "a"}, {"count", -1}}, json::object()}}};
  EXPECT_THAT(found(kRules, object),
              ElementsAre(R"(list[1].name: Duplicate value: "a")",
                          "list[1].count: Invalid value: -1: must be greater than or equal to 0"));
}

TEST(Rules, require_exactly_one_part) {
  static constexpr Part kParts[] = {{"one"}, {"other"}};
  static constexpr Rule kRules[] = {one_part(kParts, "way")};
  EXPECT_THAT(found(kRules, json::object()), ElementsAre(": Required value: must specify a way"));
  EXPECT_THAT(found(kRules, {{"other", json::object()}}), IsEmpty());
  EXPECT_THAT(found(kRules, {{"one", 1}, {"other", 2}}),
              ElementsAre("other: Forbidden: may not specify more than 1 way"));
}

TEST(Rules, accept_numbers_and_percentages_as_shares) {
  static constexpr Rule kRules[] = {share("x")};
  for (const json::value& fine : {json::value(0), json::value(7), json::value("100%")})
    EXPECT_THAT(found(kRules, {{"x", fine}}), IsEmpty());
  EXPECT_THAT(found(kRules, {{"x", "101%"}}),
              ElementsAre(R"(x: Invalid value: "101%": must not be greater than 100%)"));
  EXPECT_EQ(found(kRules, {{"x", "many"}}).size(), 1u);
  EXPECT_EQ(found(kRules, {{"x", -1}}).size(), 1u);
}

TEST(Rules, reject_changes_of_immutable_fields) {
  static constexpr Rule kInner[] = {fixed("a")};
  static constexpr Rule kRules[] = {inside("spec", kInner), sealed("b", "stays")};
  const json::value before = {{"spec", {{"a", 1}}}, {"b", 1}};
  const json::value after = {{"spec", {{"a", 2}}}, {"b", 2}};
  EXPECT_THAT(found(kRules, after), IsEmpty());
  EXPECT_THAT(found(kRules, after, &before),
              ElementsAre("spec.a: Invalid value: 2: field is immutable", "b: Forbidden: stays"));
}

}  // namespace
}  // namespace plim::local::apiserver
