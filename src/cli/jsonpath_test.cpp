#include "cli/jsonpath.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace plim::cli {
namespace {

const json::value& document() {
  static const json::value kDocument = parse_json(R"({
    "kind": "List", "n": 3, "big": 12345678901234, "ok": true, "none": null,
    "items": [
      {"name": "a", "size": 1, "tags": {"x.y/z": "dotted", "q'r": "quote"}, "on": true},
      {"name": "b", "size": 5, "labels": ["l1", "l2"]},
      {"name": "c", "size": 10, "deep": {"name": "inner"}}
    ]})")
                                           .value();
  return kDocument;
}

std::string render(std::string_view text) {
  auto path = JsonPath::parse(text);
  if (!path) return "ERROR " + path.error().message;
  auto out = path->render(document());
  return out ? *out : "ERROR " + out.error().message;
}

struct Case {
  std::string_view text;
  std::string_view want;
};

class JsonPathCases : public ::testing::TestWithParam<Case> {};

TEST_P(JsonPathCases, renders_as_kubectl_does) {
  EXPECT_EQ(render(GetParam().text), GetParam().want) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Expressions, JsonPathCases,
    ::testing::Values(
        Case{"{.kind}", "List"}, Case{"{kind}", "List"}, Case{"{$.kind}", "List"},
        Case{"{@.kind}", "List"}, Case{".kind", "List"}, Case{"plain text", "plain text"},
        Case{"", ""}, Case{"{.missing}", ""}, Case{"{.missing.deeper[3]}", ""},
        Case{"{.n}/{.ok}/{.none}/{.big}", "3/true/null/12345678901234"},
        Case{"{.items[0].name}", "a"}, Case{"{.items[-1].name}", "c"}, Case{"{.items[7].name}", ""},
        Case{"{.items[*].name}", "a b c"}, Case{"{.items[0:2].name}", "a b"},
        Case{"{.items[1:].name}", "b c"}, Case{"{.items[:-1].name}", "a b"},
        Case{"{.items[::2].name}", "a c"}, Case{"{.items[0,2].name}", "a c"},
        Case{"{.items[0]['name','size']}", "a 1"}, Case{"{['kind']}", "List"},
        Case{"{.items[0].tags['x.y/z']}", "dotted"}, Case{"{.items[0].tags.x\\.y/z}", "dotted"},
        Case{"{.items[0].tags[\"q'r\"]}", "quote"}, Case{"{.items[1].labels}", R"(["l1","l2"])"},
        Case{"{.items[2].deep}", R"({"name":"inner"})"}, Case{"{.items[2].deep.*}", "inner"},
        Case{"{..name}", "a b c inner"}, Case{"{.items..name}", "a b c inner"},
        Case{"{range .items[*]}{.name}={.size}{\"\\n\"}{end}", "a=1\nb=5\nc=10\n"},
        Case{"{range .items[*]}{@.name}{'\\t'}{end}", "a\tb\tc\t"},
        Case{"{range .items[*]}[{$.kind} {.name}]{end}", "[List a][List b][List c]"},
        Case{"{range .items[*]}{range .labels[*]}{@},{end}{end}", "l1,l2,"},
        Case{"{\"literal {}\"}", "literal {}"}, Case{"a{.n}b{.n}c", "a3b3c"},
        Case{"{ .kind }", "List"}));

INSTANTIATE_TEST_SUITE_P(Filters, JsonPathCases,
                         ::testing::Values(Case{"{.items[?(@.name==\"b\")].size}", "5"},
                                           Case{"{.items[?(@.name=='b')].size}", "5"},
                                           Case{"{.items[?(@.name!='b')].name}", "a c"},
                                           Case{"{.items[?(@.size>1)].name}", "b c"},
                                           Case{"{.items[?(@.size >= 5)].name}", "b c"},
                                           Case{"{.items[?(@.size<=1)].name}", "a"},
                                           Case{"{.items[?(@.size<5.5)].name}", "a b"},
                                           Case{"{.items[?(@.labels)].name}", "b"},
                                           Case{"{.items[?(@.on==true)].name}", "a"},
                                           Case{"{.items[?(@.deep.name=='inner')].name}", "c"},
                                           Case{"{.items[?(@.size>$.n)].name}", "b c"},
                                           Case{"{.items[?(@.name==5)].name}", ""},
                                           Case{"{.items[?(@.labels[?(@=='l2')])].name}", "b"}));

INSTANTIATE_TEST_SUITE_P(
    Mistakes, JsonPathCases,
    ::testing::Values(
        Case{"{.a", "ERROR jsonpath, column 4: expected '}'"},
        Case{"{.a..}", "ERROR jsonpath, column 6: '..' must be followed by a field"},
        Case{"{.a.}", "ERROR jsonpath, column 5: a field name is missing after '.'"},
        Case{"{}", "ERROR jsonpath, column 2: an expression such as .metadata.name is missing"},
        Case{"{.a[}", "ERROR jsonpath, column 5: expected a number, *, 'name' or ?( after '['"},
        Case{"{.a[1}", "ERROR jsonpath, column 6: expected ']'"},
        Case{"{.a['x}", "ERROR jsonpath, column 5: the closing quote is missing"},
        Case{"{['a',", "ERROR jsonpath, column 7: expected a name in quotes"},
        Case{"{['a',bcb]}", "ERROR jsonpath, column 7: expected a name in quotes"},
        Case{"{.a[0:1:0]}", "ERROR jsonpath, column 9: the step of a slice must be 1 or more"},
        Case{"{range .a}x", "ERROR jsonpath, column 1: {range} without {end}"},
        Case{"x{end}", "ERROR jsonpath, column 2: {end} without {range}"},
        Case{"{.a[?(@.b ~1)]}", "ERROR jsonpath, column 11: expected ==, !=, <, <=, >, >= or )"},
        Case{"{.a[?(1)]}", "ERROR jsonpath, column 8: expected a comparison such as =="},
        Case{".a[", "ERROR jsonpath, column 4: expected a number, *, 'name' or ?( after '['"},
        Case{"{.a[99999999999999999999]}", "ERROR jsonpath, column 5: expected a number"}));

TEST(JsonPath, whole_value_is_one_dot) {
  json::value value = {{"a", 1}};
  EXPECT_EQ(JsonPath::parse("{.}")->render(value).value(), R"({"a":1})");
  EXPECT_EQ(JsonPath::parse("{$}")->render(value).value(), R"({"a":1})");
}

TEST(JsonPath, columns_take_relaxed_expressions) {
  for (std::string_view text : {"kind", ".kind", "{kind}", "{.kind}"}) {
    auto path = JsonPath::parse_column(text);
    ASSERT_TRUE(path) << text;
    auto found = path->find(document());
    ASSERT_TRUE(found);
    ASSERT_EQ(found->size(), 1u) << text;
    EXPECT_EQ(plain_text(*found->front()), "List");
  }
}

TEST(JsonPath, refuses_endless_nesting) {
  std::string filters, ranges;
  for (int i = 0; i < 1000; ++i) filters += "[?(@.a";
  for (int i = 0; i < 1000; ++i) ranges += "{range .a}";
  EXPECT_FALSE(JsonPath::parse("{.a" + filters));
  EXPECT_FALSE(JsonPath::parse(ranges));
}

TEST(JsonPath, multiplying_descents_end_in_an_error) {
  json::value deep = 1;
  for (int i = 0; i < 60; ++i) deep = json::object{{"a", deep}, {"b", 1}};
  auto path = JsonPath::parse("{..[*]..[*]..[*]..[*]..[*]..[*]}");
  ASSERT_TRUE(path) << path.error().message;
  auto out = path->render(deep);
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().code, Code::too_large);
}

RC_GTEST_PROP(JsonPathProperty, any_name_in_quotes_is_found, (const std::string& name)) {
  std::string escaped;
  for (char c : name) {
    if (c == '\'' || c == '\\') escaped += '\\';
    escaped += c;
  }
  json::value value = json::object{{name, "found"}};
  auto path = JsonPath::parse("{['" + escaped + "']}");
  RC_ASSERT(path.has_value());
  RC_ASSERT(path->render(value).value() == "found");
}

RC_GTEST_PROP(JsonPathProperty, text_without_braces_stays_as_it_is, (std::string text)) {
  std::erase(text, '{');
  if (!text.empty() && (text[0] == '.' || text[0] == '$' || text[0] == '@')) text.erase(0, 1);
  RC_PRE(text.empty() || (text[0] != '.' && text[0] != '$' && text[0] != '@'));
  auto path = JsonPath::parse(text);
  RC_ASSERT(path.has_value());
  RC_ASSERT(path->render(document()).value() == text);
}

}  // namespace
}  // namespace plim::cli
