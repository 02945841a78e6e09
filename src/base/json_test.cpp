#include "base/json.hpp"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/testing/json_gen.hpp"

namespace plim {
namespace {

std::string nested(std::size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

std::string message(std::string_view text) {
  auto parsed = parse_json(text, "pod.json");
  return parsed ? "accepted" : parsed.error().message;
}

std::string again(std::string_view text) {
  auto parsed = parse_json(text);
  return parsed ? to_json(*parsed) : parsed.error().message;
}

TEST(Json, reports_the_position_and_what_was_expected) {
  EXPECT_EQ(message("{\n  \"a\" 1}"), "pod.json:2:7: expected ':' after the key, found \"1\"");
  EXPECT_EQ(message("{\"a\":1,}"), "pod.json:1:8: expected a key in quotes, found \"}\"");
  EXPECT_EQ(message("[1 2]"), "pod.json:1:4: expected ',' or ']' after an element, found \"2\"");
  EXPECT_EQ(message("[1,]"), "pod.json:1:4: expected a value after ',', found \"]\"");
  EXPECT_EQ(message("{"), "pod.json:1:2: expected a key in quotes or '}', found the end");
  EXPECT_EQ(message(""), "pod.json:1:1: expected a value, found the end");
  EXPECT_EQ(message("nul"), "pod.json:1:1: expected a value, found \"n\"");
  EXPECT_EQ(message("{\"é\": tru}"), "pod.json:1:7: expected a value after ':', found \"t\"");
  EXPECT_EQ(message("[01]"), "pod.json:1:2: a number must not begin with a zero");
  EXPECT_EQ(message("[1.]"), "pod.json:1:4: expected a digit after the decimal point, found \"]\"");
  EXPECT_EQ(message("\"abc"), "pod.json:1:1: the string that begins here has no closing quote");
  EXPECT_EQ(message("\"a\nb\""), "pod.json:1:3: control characters in a string must be escaped");
  EXPECT_EQ(message("\"\\x\""),
            "pod.json:1:3: expected one of \" \\ / b f n r t u after a backslash, found \"x\"");
  EXPECT_EQ(message("\"\\ud800\""),
            "pod.json:1:2: first half of a surrogate pair without the second");
  EXPECT_EQ(message("\"\xff\""), "pod.json:1:2: the text is not valid UTF-8");
  EXPECT_EQ(message("1 2"), "pod.json:1:3: expected the end of the text, found \"2\"");
  EXPECT_EQ(message("{} // comment"), "pod.json:1:4: expected the end of the text, found \"/\"");
  EXPECT_EQ(message("[1e999]"), "pod.json:1:2: \"1e999\" is out of range for a number");
  EXPECT_EQ(parse_json("x").error().message, "line 1, column 1: expected a value, found \"x\"");
  EXPECT_EQ(parse_json("x").error().code, Code::invalid);
}

TEST(Json, limits_the_depth) {
  EXPECT_TRUE(parse_json(nested(kMaxJsonDepth)));
  EXPECT_EQ(message(nested(kMaxJsonDepth + 1)), "pod.json:1:129: nested more than 128 levels deep");
  EXPECT_FALSE(parse_json(std::string(1'000'000, '[')));
}

TEST(Json, last_of_equal_keys_wins) {
  EXPECT_EQ(again(R"({"a":1,"b":2,"a":3})"), R"({"a":3,"b":2})");
}

TEST(Json, keeps_numbers) {
  EXPECT_EQ(again("[0,-1,9223372036854775807,-9223372036854775808,18446744073709551615]"),
            "[0,-1,9223372036854775807,-9223372036854775808,18446744073709551615]");
  EXPECT_EQ(again("[18446744073709551616,-9223372036854775809]"),
            "[18446744073709552000,-9223372036854776000]");
  EXPECT_EQ(again("[-0,-0e21,0]"), "[-0,-0,0]");
  EXPECT_EQ(again("[1.0,1e3,1E21,0.1,1e-999,2.5e-7]"), "[1,1000,1e+21,0.1,0,2.5e-7]");
}

// Bugs of Boost.JSON 1.81 that we work around.
TEST(Json, reads_doubles_without_the_error_of_boost) {
  EXPECT_EQ(parse_json("123456789.123456789")->get_double(), 123456789.123456789);
  EXPECT_NE(json::parse("123456789.123456789").get_double(), 123456789.123456789)
      << "fixed upstream: a plain parser would do";
}

TEST(Json, writes_doubles_without_capital_exponent) {
  EXPECT_EQ(to_json(1.0), "1");
  EXPECT_EQ(json::serialize(json::value(1.0)), "1E0") << "fixed upstream: serialize would do";
}

TEST(Json, default_depth_of_boost_is_too_small) {
  json::error_code ec;
  json::parse(nested(33), ec);
  EXPECT_TRUE(ec) << "raised upstream";
}

TEST(Json, erase_of_boost_reorders_and_stable_erase_does_not) {
  json::object one = parse_json(R"({"a":1,"b":2,"c":3})")->get_object();
  json::object two = one;
  one.erase("a");
  two.stable_erase(two.find("a"));
  EXPECT_EQ(to_json(one), R"({"c":3,"b":2})");
  EXPECT_EQ(to_json(two), R"({"b":2,"c":3})");
}

TEST(Json, writes_values_that_json_lacks) {
  EXPECT_EQ(to_json(std::nan("")), "null");
  EXPECT_EQ(to_json(json::value("a\xff\x01\n\"\\<\u2028é")), R"("a\ufffd\u0001\n\"\\<\u2028é")");
}

TEST(Json, escapes_characters_at_any_position) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string alone = to_json(json::value(json::string(1, static_cast<char>(byte))));
    for (std::size_t at = 0; at < 20; ++at) {
      std::string text(20, 'x');
      text[at] = static_cast<char>(byte);
      const std::string want = '"' + std::string(at, 'x') + alone.substr(1, alone.size() - 2) +
                               std::string(19 - at, 'x') + '"';
      EXPECT_EQ(to_json(json::value(text)), want) << byte << " at " << at;
    }
  }
}

TEST(Json, indents_like_kubectl) {
  auto value = *parse_json(R"({"kind":"Pod","list":[1,{"a":null}],"none":[],"empty":{}})");
  EXPECT_EQ(to_json_indented(value), R"({
    "kind": "Pod",
    "list": [
        1,
        {
            "a": null
        }
    ],
    "none": [],
    "empty": {}
})");
}

TEST(Json, finds_by_path) {
  auto pod = *parse_json(R"({"metadata":{"name":"a","generation":3,"x":2.0,"on":true},"list":[]})");
  EXPECT_EQ(text_at(pod, {"metadata", "name"}), "a");
  EXPECT_EQ(text_at(pod, {"metadata", "generation"}), "");
  EXPECT_EQ(text_at(pod, {"metadata", "name", "deeper"}), "");
  EXPECT_EQ(int_at(pod, {"metadata", "generation"}), 3);
  EXPECT_EQ(int_at(pod, {"metadata", "x"}), 2);
  EXPECT_EQ(int_at(pod, {"metadata", "name"}), std::nullopt);
  EXPECT_EQ(int_at(json::value{{"port", std::uint16_t{10251}}}, {"port"}), 10251);
  EXPECT_EQ(int_at(json::value{{"much", std::uint64_t{1} << 63}}, {"much"}), std::nullopt);
  EXPECT_TRUE(bool_at(pod, {"metadata", "on"}));
  EXPECT_FALSE(bool_at(pod, {"metadata", "off"}));
  EXPECT_EQ(find(pod, {"list", "0"}), nullptr);
  EXPECT_EQ(find(pod, {}), &pod);
}

TEST(Json, finds_lists_and_their_texts) {
  auto pod = *parse_json(R"({"spec":{"names":["a",1,"b",null],"none":{}}})");
  EXPECT_EQ(list_at(pod, {"spec", "names"}).size(), 4u);
  EXPECT_EQ(texts_at(pod, {"spec", "names"}), (std::vector<std::string>{"a", "b"}));
  for (const char* name : {"none", "missing"}) {
    EXPECT_TRUE(list_at(pod, {"spec", name}).empty());
    EXPECT_TRUE(texts_at(pod, {"spec", name}).empty());
  }
}

TEST(Json, makes_objects_along_a_path) {
  json::value pod = {{"metadata", 1}};
  make_object(pod, {"metadata", "labels"})["a"] = "b";
  EXPECT_EQ(to_json(pod), R"({"metadata":{"labels":{"a":"b"}}})");
}

TEST(Json, sorts_keys_everywhere) {
  auto value = *parse_json(R"({"b":[{"z":1,"y":2}],"a":{"d":1,"c":2}})");
  sort_keys(value);
  EXPECT_EQ(to_json(value), R"({"a":{"c":2,"d":1},"b":[{"y":2,"z":1}]})");
}

RC_GTEST_PROP(Json, parses_what_it_prints, ()) {
  json::value value = testing::arbitrary_json();
  std::string text = to_json(value);
  RC_ASSERT(to_json(*parse_json(text)) == text);
  RC_ASSERT(to_json(*parse_json(to_json_indented(value))) == text);
}

// Boost reads 1e310 as infinity, which JSON does not have; we reject it, as Go does.
bool holds_infinity(const json::value& value) {
  if (const double* number = value.if_double()) return std::isinf(*number);
  if (const json::array* array = value.if_array())
    return std::any_of(array->begin(), array->end(), holds_infinity);
  if (const json::object* object = value.if_object())
    return std::any_of(object->begin(), object->end(),
                       [](const auto& member) { return holds_infinity(member.value()); });
  return false;
}

RC_GTEST_PROP(Json, agrees_with_boost_on_what_is_json, (const std::string& noise)) {
  // A valid text with one changed byte is mostly, but not always, invalid.
  std::string text = to_json(testing::arbitrary_json(2));
  auto at = *rc::gen::inRange<std::size_t>(0, text.size() + 1);
  text.insert(at, noise.substr(0, 1));
  json::error_code ec;
  json::parse_options options;
  options.max_depth = kMaxJsonDepth;
  json::value theirs = json::parse(text, ec, {}, options);
  RC_ASSERT(parse_json(text).has_value() == (!ec && !holds_infinity(theirs)));
}

}  // namespace
}  // namespace plim
