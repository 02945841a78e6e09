#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/testing/json_gen.hpp"
#include "local/apiserver/patch/patch.hpp"
#include "local/apiserver/patch/testing/sample_types.hpp"

namespace plim::local::apiserver {
namespace {

using testing::doc;
using ::testing::HasSubstr;

std::string patched(const char* object, const char* patch) {
  auto result = apply_json_patch(doc(object), doc(patch));
  return result ? to_json(*result) : result.error().message;
}

Code patch_refusal(const char* object, const char* patch) {
  auto result = apply_json_patch(doc(object), doc(patch));
  return result ? Code::unknown : result.error().code;
}

std::string json(const char* text) {
  return to_json(doc(text));
}

TEST(JsonPatch, applies_each_operation) {
  struct Case {
    const char* object;
    const char* patch;
    const char* result;
  };

  const Case cases[] = {
      {"{'foo':'bar'}", "[]", "{'foo':'bar'}"},
      {"{'foo':'bar'}", "[{'op':'add','path':'/baz','value':'q'}]", "{'foo':'bar','baz':'q'}"},
      {"{'foo':'bar'}", "[{'op':'add','path':'/foo','value':null}]", "{'foo':null}"},
      {"{'a':[1,3]}", "[{'op':'add','path':'/a/1','value':2}]", "{'a':[1,2,3]}"},
      {"{'a':[1]}", "[{'op':'add','path':'/a/1','value':2}]", "{'a':[1,2]}"},
      {"{'a':[1]}", "[{'op':'add','path':'/a/-','value':[2]}]", "{'a':[1,[2]]}"},
      {"{'a':1}", "[{'op':'add','path':'','value':{'b':2}}]", "{'b':2}"},
      {"{'a':1,'b':2}", "[{'op':'remove','path':'/a'}]", "{'b':2}"},
      {"{'a':[1,2,3]}", "[{'op':'remove','path':'/a/1'}]", "{'a':[1,3]}"},
      {"{'a':[1,2,3]}", "[{'op':'remove','path':'/a/-1'}]", "{'a':[1,2]}"},
      {"{'a':1}", "[{'op':'replace','path':'/a','value':{'b':2}}]", "{'a':{'b':2}}"},
      {"{'a':[1,2]}", "[{'op':'replace','path':'/a/0','value':9}]", "{'a':[9,2]}"},
      {"{'a':{'b':1},'c':{}}", "[{'op':'move','from':'/a/b','path':'/c/d'}]",
       "{'a':{},'c':{'d':1}}"},
      {"{'a':[1,2,3,4]}", "[{'op':'move','from':'/a/1','path':'/a/3'}]", "{'a':[1,3,4,2]}"},
      {"{'a':{'b':1}}", "[{'op':'copy','from':'/a','path':'/c'}]", "{'a':{'b':1},'c':{'b':1}}"},
      {"{'a/b':1,'m~n':2}",
       "[{'op':'remove','path':'/a~1b'},{'op':'test','path':'/m~0n','value':2}]", "{'m~n':2}"},
      {"{'~1':1}", "[{'op':'test','path':'/~01','value':1}]", "{'~1':1}"},
      {"{'a':{'b':[1,{'c':'x'}]}}", "[{'op':'test','path':'/a','value':{'b':[1,{'c':'x'}]}}]",
       "{'a':{'b':[1,{'c':'x'}]}}"},
      {"{}", "[{'op':'test','path':'/none','value':null}]", "{}"},
      {"{'':1}", "[{'op':'replace','path':'/','value':2}]", "{'':2}"},
  };
  for (const Case& c : cases) EXPECT_EQ(patched(c.object, c.patch), json(c.result)) << c.patch;
}

TEST(JsonPatch, rejects_operations_that_do_not_apply_as_invalid) {
  for (const char* patch : {
           "[{'op':'add','path':'/none/x','value':1}]",
           "[{'op':'add','path':'/list/9','value':1}]",
           "[{'op':'add','path':'/list/x','value':1}]",
           "[{'op':'add','path':'/text/x','value':1}]",
           "[{'op':'add','path':'text','value':1}]",
           "[{'op':'add','path':'/x'}]",
           "[{'op':'remove','path':'/none'}]",
           "[{'op':'remove','path':'/list/-3'}]",
           "[{'op':'remove','path':''}]",
           "[{'op':'replace','path':'/none','value':1}]",
           "[{'op':'replace','path':'/list/-','value':1}]",
           "[{'op':'move','path':'/x'}]",
           "[{'op':'move','from':'/none','path':'/x'}]",
           "[{'op':'copy','from':'/none','path':'/x'}]",
           "[{'op':'test','path':'/text','value':'other'}]",
           "[{'op':'test','path':'/none','value':1}]",
           "[{'op':'swap','path':'/text'}]",
           "[{'path':'/text'}]",
           "[{'op':'remove'}]",
       })
    EXPECT_EQ(patch_refusal("{'list':[1,2],'text':'t'}", patch), Code::invalid) << patch;
}

TEST(JsonPatch, rejects_a_document_that_is_not_a_patch) {
  for (const char* patch : {"{}", "'x'", "[1]", "[{'op':'remove','path':'/a'},null]"})
    EXPECT_EQ(patch_refusal("{'a':1}", patch), Code::bad_request) << patch;
}

TEST(JsonPatch, names_the_operation_that_failed) {
  EXPECT_THAT(
      patched("{'a':1}", "[{'op':'remove','path':'/a'},{'op':'test','path':'/a','value':1}]"),
      HasSubstr("test operation does not apply: /a"));
}

TEST(JsonPatch, has_at_most_ten_thousand_operations) {
  json::array patch(10'000, doc("{'op':'add','path':'/a','value':1}"));
  EXPECT_TRUE(apply_json_patch(doc("{}"), patch));
  patch.push_back(patch.back());
  EXPECT_EQ(apply_json_patch(doc("{}"), patch).error().code, Code::too_large);
}

TEST(JsonPatch, limits_the_growth_of_a_document) {
  const json::value object = json::object{{"a", std::string(1 << 20, 'x')}};
  json::array patch;
  for (const char* path : {"/b", "/c", "/d"})
    patch.push_back(json::object{{"op", "copy"}, {"from", "/a"}, {"path", path}});
  EXPECT_EQ(apply_json_patch(object, patch).error().code, Code::invalid);
}

TEST(JsonPatch, limits_the_depth_of_a_document) {
  const json::array patch(200, doc("{'op':'copy','from':'','path':'/a'}"));
  EXPECT_EQ(apply_json_patch(doc("{'a':1}"), patch).error().code, Code::invalid);
}

RC_GTEST_PROP(JsonPatch, adds_and_removes_any_member_without_a_trace, ()) {
  const json::value value = plim::testing::arbitrary_json();
  const json::value object = json::object{{"kept", plim::testing::arbitrary_json()}};
  std::string pointer = "/";
  const std::string key = "x" + *plim::testing::awkward_text();
  for (char c : key) pointer += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  const json::value add = json::object{{"op", "add"}, {"path", pointer}, {"value", value}};
  const json::value test = json::object{{"op", "test"}, {"path", pointer}, {"value", value}};
  const json::value remove = json::object{{"op", "remove"}, {"path", pointer}};
  const json::value there = apply_json_patch(object, json::array{add, test}).value();
  RC_ASSERT(there.as_object().at(key) == value);
  RC_ASSERT(apply_json_patch(there, json::array{remove}).value() == object);
}

}  // namespace
}  // namespace plim::local::apiserver
