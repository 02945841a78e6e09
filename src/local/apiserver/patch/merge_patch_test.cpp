#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/testing/json_gen.hpp"
#include "local/apiserver/patch/patch.hpp"
#include "local/apiserver/patch/testing/sample_types.hpp"

namespace plim::local::apiserver {
namespace {

using testing::doc;

TEST(MergePatch, gives_the_results_of_the_appendix_of_rfc_7396) {
  struct Case {
    const char* original;
    const char* patch;
    const char* result;
  };

  const Case cases[] = {
      {"{'a':'b'}", "{'a':'c'}", "{'a':'c'}"},
      {"{'a':'b'}", "{'b':'c'}", "{'a':'b','b':'c'}"},
      {"{'a':'b'}", "{'a':null}", "{}"},
      {"{'a':'b','b':'c'}", "{'a':null}", "{'b':'c'}"},
      {"{'a':['b']}", "{'a':'c'}", "{'a':'c'}"},
      {"{'a':'c'}", "{'a':['b']}", "{'a':['b']}"},
      {"{'a':{'b':'c'}}", "{'a':{'b':'d','c':null}}", "{'a':{'b':'d'}}"},
      {"{'a':[{'b':'c'}]}", "{'a':[1]}", "{'a':[1]}"},
      {"['a','b']", "['c','d']", "['c','d']"},
      {"{'a':'b'}", "['c']", "['c']"},
      {"{'a':'foo'}", "null", "null"},
      {"{'a':'foo'}", "'bar'", "'bar'"},
      {"{'e':null}", "{'a':1}", "{'e':null,'a':1}"},
      {"[1,2]", "{'a':'b','c':null}", "{'a':'b'}"},
      {"{}", "{'a':{'bb':{'ccc':null}}}", "{'a':{'bb':{}}}"},
  };
  for (const Case& c : cases)
    EXPECT_EQ(to_json(apply_merge_patch(doc(c.original), doc(c.patch))), to_json(doc(c.result)))
        << c.original << " and " << c.patch;
}

RC_GTEST_PROP(MergePatch, changes_nothing_the_second_time, ()) {
  const json::value object = plim::testing::arbitrary_json();
  const json::value patch = plim::testing::arbitrary_json();
  const json::value once = apply_merge_patch(object, patch);
  RC_ASSERT(apply_merge_patch(once, patch) == once);
}

RC_GTEST_PROP(MergePatch, with_no_members_changes_no_object, ()) {
  const json::value object = json::object{{"a", plim::testing::arbitrary_json()}};
  RC_ASSERT(apply_merge_patch(object, json::object()) == object);
}

}  // namespace
}  // namespace plim::local::apiserver
