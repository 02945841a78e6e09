#include "base/yaml.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace plim {
namespace {

std::string as_json(std::string_view text, YamlOptions options = {}) {
  auto parsed = parse_yaml(text, "a.yaml", options);
  return parsed ? to_json(*parsed) : parsed.error().message;
}

TEST(Yaml, reads_a_manifest) {
  EXPECT_EQ(as_json(R"(# a pod
apiVersion: v1
kind: Pod
metadata:
  name: web
  labels: {app: web, "tier": front}
spec:
  containers:
  - name: main
    args: ["-c", 'it''s', "a\tb\u00e9"]
    command:
      - sh
    script: |
      one
        two
    folded: >-
      one
      two
)"),
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","labels":{"app":"web",)"
            R"("tier":"front"}},"spec":{"containers":[{"name":"main","args":["-c","it's",)"
            R"("a\tbé"],"command":["sh"],"script":"one\n  two\n","folded":"one two"}]}})");
}

// Bugs of libfyaml 0.7.12 that we work around.
TEST(Yaml, reads_several_quotes_in_a_row) {
  EXPECT_EQ(as_json("['a''''b', '''''', 'x''''''y''z', 'a''''\n  b  \n\n\n c']"),
            R"(["a''b","''","x'''y'z","a'' b\n\nc"])");
}

TEST(Yaml, rejects_line_separators_with_old_versions) {
  EXPECT_EQ(as_json("a: x\u2028y"), R"({"a":"x\u2028y"})");
  EXPECT_EQ(as_json("%YAML 1.1\n---\na: x\u2028y"),
            "a.yaml:3:5: expected this line separator as an escape, since there is a %YAML line");
}

TEST(Yaml, folds_lines) {
  EXPECT_EQ(as_json("a: >\n  x\n  y\n\n  z\n"), R"({"a":"x y\nz\n"})");
  EXPECT_EQ(as_json("a: >- # not >+\n  x\n\n    y\n  z\n\n\n  w\n\n"),
            R"({"a":"x\n\n  y\nz\n\nw"})");
  EXPECT_EQ(as_json("a: >+\n\n  a\n  b\n\n"), R"({"a":"\na b\n\n"})");
  EXPECT_EQ(as_json("a: >\n ! x\n \n  - b\n ! y\n \n  - c\n"),
            R"({"a":"! x\n\n - b\n! y\n\n - c\n"})");
  EXPECT_EQ(as_json("- >\n\n- >2-\n   x\n  y\n- >\n  end"), R"([""," x\ny","end"])");
}

TEST(Yaml, json_is_yaml) {
  EXPECT_EQ(as_json(R"({"a": [1, 2.5, true, null, "x\u0041\/"], "b": {}})"),
            R"({"a":[1,2.5,true,null,"xA/"],"b":{}})");
  EXPECT_EQ(as_json("{\"a\":\n[1,\n2]}"), R"({"a":[1,2]})");
}

TEST(Yaml, empty_text_is_null) {
  EXPECT_EQ(as_json(""), "null");
  EXPECT_EQ(as_json("# only a comment\n"), "null");
  EXPECT_EQ(as_json("---\n"), "null");
  EXPECT_EQ(as_json("a:"), R"({"a":null})");
}

TEST(Yaml, keys_become_text) {
  EXPECT_EQ(as_json("1: a\ntrue: b\n1.5: c\n\"x\": d\n0x10: e"),
            R"({"1":"a","true":"b","1.5":"c","x":"d","16":"e"})");
  EXPECT_EQ(as_json("1e40: a\n1e6: b\n123456789.5: c"),
            R"({".inf":"a","1e+06":"b","1.2345679e+08":"c"})");
  EXPECT_EQ(as_json("? [a]\n: b"), "a.yaml:1:3: expected a scalar as key, found a collection");
  EXPECT_EQ(as_json("~: b"), "a.yaml:1:1: expected a key, found null");
}

TEST(Yaml, tags_decide) {
  EXPECT_EQ(as_json("[!!str 1, !!int \"2\", !!float 3, !!bool yes, !!null '', ! 4, !!binary aGk=]"),
            R"(["1",2,3,true,null,"4","hi"])");
  EXPECT_EQ(as_json("a: !!int x"), "a.yaml:1:10: cannot read \"x\" as !!int");
  EXPECT_EQ(as_json("a: !!binary '*'"), "a.yaml:1:13: not base64 at character 1");
  EXPECT_EQ(as_json("!!map {a: !!seq [b]}"), R"({"a":["b"]})");
}

TEST(Yaml, errors_about_duplicate_keys_name_both_positions) {
  EXPECT_EQ(as_json("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n"),
            "a.yaml:5:3: key \"c\" is already used on line 3, column 3");
  EXPECT_EQ(as_json("1: a\n\"1\": b\n"),
            "a.yaml:2:1: key \"1\" is already used on line 1, column 1");
  EXPECT_EQ(as_json("a: 1\nb: 2\na: 3\n", {.duplicate_keys = DuplicateKeys::last_wins}),
            R"({"a":3,"b":2})");
}

TEST(Yaml, aliases_repeat_their_anchor) {
  EXPECT_EQ(as_json("a: &x {p: 1}\nb: *x\nc: [*x, &y 2, *y]\n*y : z"),
            R"({"a":{"p":1},"b":{"p":1},"c":[{"p":1},2,2],"2":"z"})");
  EXPECT_EQ(as_json("a: *x"), "a.yaml:1:4: alias *x has no anchor &x before it");
  EXPECT_EQ(as_json("a: &x [*x]"), "a.yaml:1:8: alias *x has no anchor &x before it");
  EXPECT_EQ(as_json("- &x a\n- &x b\n- *x"), R"(["a","b","b"])");
}

TEST(Yaml, merge_keys_fill_in) {
  EXPECT_EQ(as_json("base: &b {x: 1, w: 2}\nmore: &m {w: 3, z: 4}\n"
                    "one: {<<: *b, x: 9}\ntwo: {x: 9, <<: [*b, *m]}\n"),
            R"({"base":{"x":1,"w":2},"more":{"w":3,"z":4},"one":{"x":9,"w":2},)"
            R"("two":{"x":9,"w":2,"z":4}})");
  EXPECT_EQ(as_json("<<: 1"), "a.yaml:1:5: expected a mapping or a list of mappings after <<");
  EXPECT_EQ(as_json("<<: [{a: 1}, 2]"),
            "a.yaml:1:5: expected a mapping or a list of mappings after <<");
  EXPECT_EQ(as_json("\"<<\": 1"), R"({"<<":1})");
  EXPECT_EQ(as_json("- <<"), R"(["<<"])");
}

TEST(Yaml, aliases_cannot_explode) {
  std::string bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n";
  for (char c = 'b'; c <= 'j'; ++c) {
    bomb += fmt::format("{0}: &{0} [", c);
    for (int i = 0; i < 9; ++i) bomb += fmt::format("*{},", static_cast<char>(c - 1));
    bomb += "]\n";
  }
  EXPECT_NE(as_json(bomb).find("aliases make more than"), std::string::npos);
  std::string tower = "- &a0 []\n";
  for (int i = 1; i <= 200; ++i) tower += fmt::format("- &a{} [*a{}]\n", i, i - 1);
  EXPECT_NE(as_json(tower).find("nested more than 128 levels deep"), std::string::npos);
}

TEST(Yaml, limits_depth_and_size) {
  EXPECT_TRUE(parse_yaml(std::string(128, '[') + std::string(128, ']')));
  EXPECT_EQ(as_json(std::string(129, '[') + std::string(129, ']')),
            "a.yaml:1:129: nested more than 128 levels deep");
  EXPECT_FALSE(parse_yaml(std::string(100'000, '[')));
  auto large = parse_yaml("abcdef", "a.yaml", {.max_bytes = 5});
  EXPECT_EQ(large.error().code, Code::too_large);
}

TEST(Yaml, reports_the_position_of_a_mistake) {
  EXPECT_EQ(as_json("a: b: c"), "a.yaml:1:5: invalid nested block mapping on the same line");
  EXPECT_EQ(as_json("x: 1\ny: \"abc\n"), "a.yaml:2:5: double-quoted scalar without closing quote");
  EXPECT_EQ(as_json("- a\nb: c"), "a.yaml:2:1: invalid scalar at the end of block sequence");
  EXPECT_EQ(as_json("a: .inf"), "a.yaml:1:4: .inf is a number that JSON does not have");
  EXPECT_EQ(as_json("a: x\xff"), "a.yaml:1:5: byte 0xff is not allowed in YAML text");
  EXPECT_EQ(as_json(std::string_view("a\0b", 3)),
            "a.yaml:1:2: byte 0x00 is not allowed in YAML text");
  EXPECT_EQ(parse_yaml("[").error().message.substr(0, 5), "line ");
}

TEST(Yaml, reads_streams_without_the_empty_documents) {
  auto documents = *parse_yaml_documents("---\na: 1\n---\n# nothing\n---\n- 2\n...\n", "s.yaml");
  ASSERT_EQ(documents.size(), 2u);
  EXPECT_EQ(to_json(documents[0].value()), R"({"a":1})");
  EXPECT_EQ(to_json(documents[1].value()), "[2]");
  EXPECT_EQ(documents[1].position("/0"), (TextPosition{6, 3}));
  EXPECT_EQ(as_json("a: 1\n---\nb: 2\n"),
            "a.yaml:3:1: expected one YAML document, found a second one");
}

TEST(Yaml, remembers_positions_and_local_tags) {
  auto document = *parse_yaml_document(R"(runner: !MeasurementRunner
  node: !KubernetesNode
    node_ip: 1.2.3.4
    a/b~c: [x, !Storage "7"]
  empty: !Nothing
)",
                                       "agent.yaml");
  EXPECT_EQ(to_json(document.value()),
            R"({"runner":{"node":{"node_ip":"1.2.3.4","a/b~c":["x","7"]},"empty":""}})");
  EXPECT_EQ(document.local_tag("/runner"), "MeasurementRunner");
  EXPECT_EQ(document.local_tag("/runner/node"), "KubernetesNode");
  EXPECT_EQ(document.local_tag("/runner/node/a~1b~0c/1"), "Storage");
  EXPECT_EQ(document.local_tag("/runner/empty"), "Nothing");
  EXPECT_EQ(document.local_tag("/runner/node/node_ip"), "");
  EXPECT_EQ(document.local_tag("/runner/missing"), "");
  EXPECT_EQ(document.position("/runner/node/node_ip"), (TextPosition{3, 14}));
  EXPECT_EQ(document.key_position("/runner/node/node_ip"), (TextPosition{3, 5}));
  EXPECT_EQ(document.position("/runner/node/a~1b~0c/0"), (TextPosition{4, 13}));
  EXPECT_EQ(document.position("/runner/node/a~1b~0c/9"), (TextPosition{4, 12}));
  EXPECT_EQ(document.error_at("/runner/node/node_ip", "expected a name").message,
            "agent.yaml:3:14: expected a name");
  EXPECT_EQ(document.error_at_key("/runner/node/node_ip", "unknown option").message,
            "agent.yaml:3:5: unknown option");
}

}  // namespace
}  // namespace plim
