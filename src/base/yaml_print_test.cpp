#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/testing/json_gen.hpp"
#include "base/yaml.hpp"

namespace plim {
namespace {

std::string from_json(std::string_view text) {
  return to_yaml(*parse_json(text));
}

std::string scalar(std::string_view text) {
  return to_yaml(json::value(text));
}

TEST(YamlPrint, looks_like_kubectl) {
  EXPECT_EQ(from_json(R"({"apiVersion":"v1","items":[{"name":"a","args":["x","y"],"none":[]},
    [1,[2,{}]],"s"],"metadata":{"labels":{},"n":null,"t":"true","f":1.5,"i":1.0}})"),
            R"(apiVersion: v1
items:
- name: a
  args:
  - x
  - "y"
  none: []
- - 1
  - - 2
    - {}
- s
metadata:
  labels: {}
  "n": null
  t: "true"
  f: 1.5
  i: 1
)");
  EXPECT_EQ(from_json("[]"), "[]\n");
  EXPECT_EQ(from_json("{}"), "{}\n");
  EXPECT_EQ(from_json("[[[1]]]"), "- - - 1\n");
  EXPECT_EQ(from_json("1e21"), "1e+21\n");
  EXPECT_EQ(from_json("1234567.5"), "1.2345675e+06\n");
}

TEST(YamlPrint, quotes_scalars_as_go_does) {
  EXPECT_EQ(scalar("plain text"), "plain text\n");
  EXPECT_EQ(scalar("a:b"), "a:b\n");
  EXPECT_EQ(scalar("a: b"), "'a: b'\n");
  EXPECT_EQ(scalar("it's: x"), "'it''s: x'\n");
  EXPECT_EQ(scalar("a #b"), "'a #b'\n");
  EXPECT_EQ(scalar("- a"), "'- a'\n");
  EXPECT_EQ(scalar("-a"), "-a\n");
  EXPECT_EQ(scalar("*"), "'*'\n");
  EXPECT_EQ(scalar("{a}"), "'{a}'\n");
  EXPECT_EQ(scalar(" a"), "' a'\n");
  EXPECT_EQ(scalar("a "), "'a '\n");
  EXPECT_EQ(scalar(""), "\"\"\n");
  EXPECT_EQ(scalar("123"), "\"123\"\n");
  EXPECT_EQ(scalar("no"), "\"no\"\n");
  EXPECT_EQ(scalar("2024-01-02T03:04:05Z"), "\"2024-01-02T03:04:05Z\"\n");
  EXPECT_EQ(scalar("a\tb"), "\"a\\tb\"\n");
  EXPECT_EQ(scalar("é"), "é\n");
  EXPECT_EQ(scalar("😀"), "\"\\U0001F600\"\n");
}

TEST(YamlPrint, lines_become_a_block) {
  EXPECT_EQ(from_json(R"({"a":"one\n two\n","b":"x\ny","c":"x\n\n"})"),
            "a: |\n  one\n   two\nb: |-\n  x\n  y\nc: |+\n  x\n\n");
  EXPECT_EQ(from_json(R"(["a\nb",{"k":"a\nb"}])"), "- |-\n  a\n  b\n- k: |-\n    a\n    b\n");
  EXPECT_EQ(from_json(R"({"a":" x\ny"})"), "a: |2-\n   x\n  y\n");
  EXPECT_EQ(scalar("a \nb"), "\"a \\nb\"\n");
}

TEST(YamlPrint, long_keys_follow_a_question_mark) {
  std::string key(129, 'k');
  EXPECT_EQ(to_yaml(json::object{{key, 1}}), "? " + key + "\n: 1\n");
  EXPECT_EQ(to_yaml(json::object{{key, {1, 2}}}), "? " + key + "\n:\n- 1\n- 2\n");
}

RC_GTEST_PROP(YamlPrint, parses_what_it_prints, ()) {
  json::value value = testing::arbitrary_json();
  auto parsed = parse_yaml(to_yaml(value));
  RC_LOG() << to_yaml(value) << "\n";
  if (!parsed) RC_FAIL(parsed.error().message);
  RC_ASSERT(to_json(*parsed) == to_json(value));
}

RC_GTEST_PROP(YamlPrint, every_scalar_stays_what_it_is, ()) {
  json::value text(*testing::awkward_text());
  for (const json::value& value :
       {text, json::value(json::array{text}), json::value(json::array{json::array{text}}),
        json::value(json::object{{"k", text}}), json::value(json::object{{"k", json::array{text}}}),
        json::value(json::object{{text.get_string(), text}})}) {
    auto parsed = parse_yaml(to_yaml(value));
    RC_LOG() << to_yaml(value) << "\n";
    if (!parsed) RC_FAIL(parsed.error().message);
    RC_ASSERT(to_json(*parsed) == to_json(value));
  }
}

}  // namespace
}  // namespace plim
