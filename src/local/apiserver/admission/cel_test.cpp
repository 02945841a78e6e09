#include "local/apiserver/admission/cel.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "local/apiserver/patch/testing/sample_types.hpp"

namespace plim::local::apiserver {
namespace {

using testing::doc;
using ::testing::HasSubstr;

std::string outcome(std::string_view expression) {
  const json::value object =
      doc("{'metadata':{'name':'p','annotations':{'nokia.k8s.io/cpus':'[]'},'labels':{}},'spec':{"
          "'containers':[{'name':'a','resources':{'limits':{'nokia.k8s.io/pool':'1'}}},{'name':"
          "'b'}],'priority':10,'share':0.5,'hostNetwork':true}}");
  const json::value request = doc("{'operation':'CREATE','userInfo':{'groups':['a','b']}}");
  const json::value nothing;
  auto parsed = CelExpression::parse(expression);
  if (!parsed) return "refused: " + parsed.error().message;
  auto result =
      parsed->evaluate({{"object", &object}, {"oldObject", &nothing}, {"request", &request}});
  if (!result) return "failed: " + result.error().message;
  return *result ? "true" : "false";
}

TEST(Cel, evaluates_what_match_conditions_use) {
  const std::pair<const char*, const char*> cases[] = {
      {"true", "true"},
      {"!false && !!true", "true"},
      {"false || true && false", "false"},
      {"(true || false) && true", "true"},
      {"object.metadata.name == 'p'", "true"},
      {"object.metadata.name != \"p\"", "false"},
      {"object['metadata']['name'] == 'p'", "true"},
      {"object.spec.containers[1].name == 'b'", "true"},
      {"object.spec.priority >= 10 && object.spec.priority < 11", "true"},
      {"object.spec.share <= 0.5 && object.spec.share > -1", "true"},
      {"object.spec.priority == 10.0", "true"},
      {"object.spec.priority == '10'", "false"},
      {"object.metadata.name < 'q'", "true"},
      {"object.spec.hostNetwork", "true"},
      {"oldObject == null", "true"},
      {"request.operation in ['CREATE', 'UPDATE']", "true"},
      {"request.operation in []", "false"},
      {"'a' in request.userInfo.groups", "true"},
      {"'nokia.k8s.io/cpus' in object.metadata.annotations", "true"},
      {"has(object.metadata.annotations) && has(object.spec.nodeName) == false", "true"},
      {"object.spec.containers.exists(c, c.name == 'b')", "true"},
      {"object.spec.containers.exists(c, c.name == 'z')", "false"},
      {"object.metadata.annotations.exists(k, k.startsWith('nokia.k8s.io/'))", "true"},
      {"(has(object.metadata.annotations) && 'x' in object.metadata.annotations) ||\n"
       "object.spec.containers.exists(c, has(c.resources) && has(c.resources.limits) &&\n"
       "  c.resources.limits.exists(k, k.startsWith('nokia.k8s.io/')))",
       "true"},
      {"object.spec.containers.exists(c, object.spec.containers.exists(d, c.name < d.name))",
       "true"},
      {"'it\\'s\\n' == \"it's\\n\"", "true"},
  };
  for (const auto& [expression, expected] : cases)
    EXPECT_EQ(outcome(expression), expected) << expression;
}

TEST(Cel, lets_one_side_decide_when_the_other_fails) {
  const std::pair<const char*, const char*> cases[] = {
      {"false && object.none", "false"},
      {"object.none && false", "false"},
      {"object.none || true", "true"},
      {"object.spec.containers.exists(c, c.resources.limits.exists(k, true))", "true"},
  };
  for (const auto& [expression, expected] : cases)
    EXPECT_EQ(outcome(expression), expected) << expression;
}

TEST(Cel, fails_on_missing_fields_and_wrong_types) {
  const std::pair<const char*, const char*> cases[] = {
      {"object.none == 1", "no such key: none"},
      {"oldObject.metadata.name == 'p'", "no object with the field \"metadata\""},
      {"has(object.none.x)", "no such key: none"},
      {"object.metadata.name", "not a boolean"},
      {"object.spec.priority < 'x'", "cannot be compared"},
      {"object.spec.containers[7].name == 'x'", "index out of bounds: 7"},
      {"object.spec.containers['a'] == 1", "no object"},
      {"object.metadata.name.exists(c, true)", "needs a list or a map"},
      {"object.spec.priority.startsWith('1')", "needs strings"},
      {"'a' in 'abc'", "needs a list or a map"},
      {"object.spec.containers.exists(c, c.image == 'x')", "no such key: image"},
      {"true && object.none", "no such key: none"},
  };
  for (const auto& [expression, expected] : cases)
    EXPECT_THAT(outcome(expression), HasSubstr(expected)) << expression;
}

TEST(Cel, rejects_what_it_cannot_evaluate) {
  for (const char* expression : {"",
                                 "object.",
                                 "object.spec.containers.all(c, true)",
                                 "size(object.spec.containers) > 1",
                                 "object.metadata.name.matches('x')",
                                 "true ? false : true",
                                 "1 + 1 == 2",
                                 "variables.x",
                                 "namespaceObject.metadata.name == 'x'",
                                 "has(object)",
                                 "has('x')",
                                 "'open",
                                 "\"\\x41\" == 'A'",
                                 "object.x exists",
                                 "object == ",
                                 "c.name == 'x'",
                                 "[1, 2",
                                 "1.2.3 == 1",
                                 "{'a': 1} == object",
                                 "object.spec.containers.exists(c)",
                                 "object.spec.containers.exists(1, true)"})
    EXPECT_THAT(outcome(expression), HasSubstr("refused: ")) << expression;
  EXPECT_THAT(outcome("object.spec.containers.all(c, true)"), HasSubstr("all() is not supported"));
}

TEST(Cel, rejects_what_would_exhaust_the_stack) {
  EXPECT_THAT(outcome(std::string(1000, '(') + "true" + std::string(1000, ')')),
              HasSubstr("nested too deeply"));
  EXPECT_THAT(outcome(std::string(1000, '!') + "true"), HasSubstr("nested too deeply"));
  std::string chain = "true";
  for (int i = 0; i < 1000; ++i) chain += "&&true";
  EXPECT_THAT(outcome(chain), HasSubstr("too many operators"));
}

TEST(Cel, stops_what_takes_too_long) {
  std::string expression = "false";
  for (char name : {'a', 'b', 'c', 'd', 'e', 'f'})
    expression =
        fmt::format("['1','2','3','4','5','6','7','8','9'].exists({}, {})", name, expression);
  EXPECT_THAT(outcome(expression), HasSubstr("takes too long"));
}

// Each step is cheap for the expression, but not for the server.
TEST(Cel, counts_the_bytes_of_large_objects) {
  json::object data;
  for (int i = 0; i < 100; ++i) data[std::to_string(i)] = std::string(10'000, 'x');
  const json::value object{{"metadata", {{"name", "p"}}}, {"data", std::move(data)}};
  const auto outcome_for = [&](std::string_view text) -> std::string {
    auto parsed = CelExpression::parse(text);
    if (!parsed) return parsed.error().message;
    auto result = parsed->evaluate({{"object", &object}, {"oldObject", &object}});
    return result ? fmt::format("{}", *result) : result.error().message;
  };
  EXPECT_EQ(outcome_for("object == oldObject && object in [1, oldObject]"), "true");
  EXPECT_EQ(outcome_for("object.data.exists(k, object.metadata.name == 'q')"), "false");
  for (std::string_view expression :
       {"object.data.exists(k, [object, object] == [1])",
        "object.data.exists(k, object != oldObject)", "object.data.exists(k, object in [1, 2])",
        "[object, object, object, object, object, object, object, object, object, object] == 1",
        "object.data.exists(k, object.data.exists(l, object.data[k] < object.data[l]))"})
    EXPECT_THAT(outcome_for(expression), HasSubstr("takes too long")) << expression;
}

}  // namespace
}  // namespace plim::local::apiserver
