#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "local/apiserver/patch/patch.hpp"
#include "local/apiserver/patch/testing/sample_types.hpp"

namespace plim::local::apiserver {
namespace {

using testing::doc;
using ::testing::HasSubstr;
using testing::kSample;

struct Case {
  const char* what;
  const char* object;
  const char* patch;
  const char* result;
};

void expect_results(std::span<const Case> cases) {
  for (const Case& c : cases) {
    auto result = apply_strategic_merge(kSample, doc(c.object), doc(c.patch));
    EXPECT_EQ(result ? to_json(*result) : result.error().message, to_json(doc(c.result))) << c.what;
  }
}

std::string merge_refusal(const char* object, const char* patch) {
  auto result = apply_strategic_merge(kSample, doc(object), doc(patch));
  if (result) return "accepted: " + to_json(*result);
  EXPECT_EQ(result.error().code, Code::bad_request);
  return result.error().message;
}

TEST(StrategicMerge, joins_objects_and_removes_nulls) {
  const Case cases[] = {
      {"scalar", "{'spec':{'replicas':1}}", "{'spec':{'replicas':2}}", "{'spec':{'replicas':2}}"},
      {"null", "{'spec':{'replicas':1},'data':{'a':'1'}}", "{'spec':{'replicas':null}}",
       "{'spec':{},'data':{'a':'1'}}"},
      {"null of nothing", "{}", "{'spec':null}", "{}"},
      {"nulls in what is new", "{}", "{'data':{'a':null,'b':'1'}}", "{'data':{'b':'1'}}"},
      {"map", "{'data':{'a':'1','b':'2'}}", "{'data':{'a':null,'c':'3'}}",
       "{'data':{'b':'2','c':'3'}}"},
      {"map of objects", "{'spec':{'probes':{'x':{'path':'/','period':1},'y':{}}}}",
       "{'spec':{'probes':{'x':{'period':2},'y':null,'z':{'path':'/z'}}}}",
       "{'spec':{'probes':{'x':{'path':'/','period':2},'z':{'path':'/z'}}}}"},
      {"another type", "{'spec':'text'}", "{'spec':{'replicas':1}}", "{'spec':{'replicas':1}}"},
      {"unknown member", "{'x':{'a':1}}", "{'x':{'b':2}}", "{'x':{'a':1,'b':2}}"},
  };
  expect_results(cases);
}

TEST(StrategicMerge, merges_lists_only_if_the_type_says_so) {
  const Case cases[] = {
      {"atomic scalars", "{'spec':{'containers':[{'name':'c','args':['a','b']}]}}",
       "{'spec':{'containers':[{'name':'c','args':['x']}]}}",
       "{'spec':{'containers':[{'name':'c','args':['x']}]}}"},
      {"atomic objects", "{'spec':{'tolerations':[{'path':'a'},{'path':'b'}]}}",
       "{'spec':{'tolerations':[{'path':'c'}]}}", "{'spec':{'tolerations':[{'path':'c'}]}}"},
      {"by key", "{'spec':{'containers':[{'name':'a','image':'1'},{'name':'b','image':'1'}]}}",
       "{'spec':{'containers':[{'name':'b','image':'2'}]}}",
       "{'spec':{'containers':[{'name':'a','image':'1'},{'name':'b','image':'2'}]}}"},
      {"a new element comes first", "{'spec':{'containers':[{'name':'a'},{'name':'b'}]}}",
       "{'spec':{'containers':[{'name':'c'}]}}",
       "{'spec':{'containers':[{'name':'c'},{'name':'a'},{'name':'b'}]}}"},
      {"nested by number",
       "{'spec':{'containers':[{'name':'a','ports':[{'containerPort':1},{'containerPort':2}]}]}}",
       "{'spec':{'containers':[{'name':'a','ports':[{'containerPort':2,'hostPort':9}]}]}}",
       "{'spec':{'containers':[{'name':'a','ports':[{'containerPort':1},"
       "{'containerPort':2,'hostPort':9}]}]}}"},
      {"null inside an element", "{'spec':{'containers':[{'name':'a','image':'1'}]}}",
       "{'spec':{'containers':[{'name':'a','image':null}]}}",
       "{'spec':{'containers':[{'name':'a'}]}}"},
      {"set of texts", "{'spec':{'tokens':['a','b']}}", "{'spec':{'tokens':['b','c']}}",
       "{'spec':{'tokens':['a','b','c']}}"},
      {"the patch decides the order of its own", "{'spec':{'tokens':['a','b','c']}}",
       "{'spec':{'tokens':['c','a']}}", "{'spec':{'tokens':['b','c','a']}}"},
  };
  expect_results(cases);
}

TEST(StrategicMerge, follows_the_patch_directive) {
  const Case cases[] = {
      {"delete an element", "{'spec':{'containers':[{'name':'a'},{'name':'b'}]}}",
       "{'spec':{'containers':[{'$patch':'delete','name':'a'}]}}",
       "{'spec':{'containers':[{'name':'b'}]}}"},
      {"delete and change", "{'spec':{'containers':[{'name':'a'},{'name':'b'}]}}",
       "{'spec':{'containers':[{'name':'b','image':'2'},{'$patch':'delete','name':'a'}]}}",
       "{'spec':{'containers':[{'name':'b','image':'2'}]}}"},
      {"delete what is not there", "{'spec':{'containers':[{'name':'b'}]}}",
       "{'spec':{'containers':[{'$patch':'delete','name':'a'}]}}",
       "{'spec':{'containers':[{'name':'b'}]}}"},
      {"replace a list", "{'spec':{'containers':[{'name':'a'},{'name':'b','image':'1'}]}}",
       "{'spec':{'containers':[{'$patch':'replace'},{'name':'b'}]}}",
       "{'spec':{'containers':[{'name':'b'}]}}"},
      {"empty a list", "{'spec':{'containers':[{'name':'a'}]}}",
       "{'spec':{'containers':[{'$patch':'replace'}]}}", "{'spec':{'containers':[]}}"},
      {"replace an object", "{'spec':{'strategy':{'path':'/','period':1}}}",
       "{'spec':{'strategy':{'$patch':'replace','period':2}}}",
       "{'spec':{'strategy':{'period':2}}}"},
      {"delete an object's members", "{'spec':{'strategy':{'path':'/'}}}",
       "{'spec':{'strategy':{'$patch':'delete'}}}", "{'spec':{'strategy':{}}}"},
      {"delete an object that is not there", "{'spec':{}}",
       "{'spec':{'strategy':{'$patch':'delete'}}}", "{'spec':{}}"},
      {"replace an element",
       "{'spec':{'containers':[{'name':'a','probe':{'path':'/','period':1}}]}}",
       "{'spec':{'containers':[{'name':'a','probe':{'$patch':'replace','period':2}}]}}",
       "{'spec':{'containers':[{'name':'a','probe':{'period':2}}]}}"},
      {"replace the whole object", "{'spec':{},'data':{'a':'1'}}",
       "{'$patch':'replace','data':{'b':'2'}}", "{'data':{'b':'2'}}"},
      {"in what is new", "{}",
       "{'spec':{'containers':[{'name':'a'},{'$patch':'delete','name':'b'}]}}",
       "{'spec':{'containers':[{'name':'a'}]}}"},
  };
  expect_results(cases);
}

TEST(StrategicMerge, keeps_only_the_keys_to_retain) {
  const Case cases[] = {
      {"union", "{'spec':{'strategy':{'path':'/','period':1}}}",
       "{'spec':{'strategy':{'$retainKeys':['period'],'period':2}}}",
       "{'spec':{'strategy':{'period':2}}}"},
      {"kept though not set", "{'spec':{'strategy':{'path':'/','period':1}}}",
       "{'spec':{'strategy':{'$retainKeys':['path']}}}", "{'spec':{'strategy':{'path':'/'}}}"},
      {"new", "{'spec':{}}", "{'spec':{'strategy':{'$retainKeys':['period'],'period':2}}}",
       "{'spec':{'strategy':{'period':2}}}"},
  };
  expect_results(cases);
  EXPECT_THAT(merge_refusal("{'spec':{'strategy':{}}}",
                            "{'spec':{'strategy':{'$retainKeys':['path'],'period':2}}}"),
              HasSubstr("\"period\" is set, but not one of $retainKeys"));
}

TEST(StrategicMerge, puts_elements_into_the_order_that_is_set) {
  const Case cases[] = {
      {"order alone", "{'spec':{'containers':[{'name':'a'},{'name':'b'},{'name':'c'}]}}",
       "{'spec':{'$setElementOrder/containers':[{'name':'c'},{'name':'a'},{'name':'b'}]}}",
       "{'spec':{'containers':[{'name':'c'},{'name':'a'},{'name':'b'}]}}"},
      {"as kubectl set image sends it", "{'spec':{'containers':[{'name':'a'},{'name':'b'}]}}",
       "{'spec':{'$setElementOrder/containers':[{'name':'a'},{'name':'b'}],"
       "'containers':[{'name':'b','image':'2'}]}}",
       "{'spec':{'containers':[{'name':'a'},{'name':'b','image':'2'}]}}"},
      {"a new element in the middle", "{'spec':{'containers':[{'name':'a'},{'name':'b'}]}}",
       "{'spec':{'containers':[{'name':'n'}],"
       "'$setElementOrder/containers':[{'name':'a'},{'name':'n'},{'name':'b'}]}}",
       "{'spec':{'containers':[{'name':'a'},{'name':'n'},{'name':'b'}]}}"},
      {"others stay before what they were before",
       "{'spec':{'containers':[{'name':'a'},{'name':'x'},{'name':'b'}]}}",
       "{'spec':{'$setElementOrder/containers':[{'name':'b'},{'name':'a'}]}}",
       "{'spec':{'containers':[{'name':'x'},{'name':'b'},{'name':'a'}]}}"},
      {"texts", "{'spec':{'tokens':['a','b','x']}}",
       "{'spec':{'$setElementOrder/tokens':['b','n','a'],'tokens':['n']}}",
       "{'spec':{'tokens':['b','n','a','x']}}"},
      {"of nothing", "{'spec':{}}", "{'spec':{'$setElementOrder/tokens':['b']}}", "{'spec':{}}"},
      {"with a deletion", "{'spec':{'containers':[{'name':'a'},{'name':'b'}]}}",
       "{'spec':{'$setElementOrder/containers':[{'name':'b'}],"
       "'containers':[{'$patch':'delete','name':'a'}]}}",
       "{'spec':{'containers':[{'name':'b'}]}}"},
  };
  expect_results(cases);
  EXPECT_THAT(merge_refusal("{'spec':{}}",
                            "{'spec':{'$setElementOrder/containers':[{'name':'a'}],"
                            "'containers':[{'name':'b'}]}}"),
              HasSubstr("doesn't match $setElementOrder/containers"));
}

TEST(StrategicMerge, deletes_from_lists_of_scalars) {
  const Case cases[] = {
      {"delete", "{'spec':{'tokens':['a','b','a']}}",
       "{'spec':{'$deleteFromPrimitiveList/tokens':['a','z']}}", "{'spec':{'tokens':['b']}}"},
      {"delete and add", "{'spec':{'tokens':['a','b']}}",
       "{'spec':{'$deleteFromPrimitiveList/tokens':['a'],'tokens':['c'],"
       "'$setElementOrder/tokens':['b','c']}}",
       "{'spec':{'tokens':['b','c']}}"},
      {"from nothing", "{'spec':{}}", "{'spec':{'$deleteFromPrimitiveList/tokens':['a']}}",
       "{'spec':{}}"},
  };
  expect_results(cases);
}

TEST(StrategicMerge, rejects_patches_that_do_not_match_the_type) {
  EXPECT_THAT(merge_refusal("{}", "[]"), HasSubstr("must be an object"));
  EXPECT_THAT(merge_refusal("{}", "{'$patch':'twist'}"),
              HasSubstr("unknown patch type: \"twist\""));
  EXPECT_THAT(
      merge_refusal("{'spec':{'containers':[]}}", "{'spec':{'containers':[{'image':'i'}]}}"),
      HasSubstr("does not contain declared merge key: name"));
  EXPECT_THAT(merge_refusal("{'spec':{'containers':[]}}", "{'spec':{'containers':['x']}}"),
              HasSubstr("does not contain declared merge key: name"));
  EXPECT_THAT(merge_refusal("{'spec':{}}", "{'spec':{'$retainKeys':'x'}}"),
              HasSubstr("not a list"));
  EXPECT_THAT(merge_refusal("{'spec':{}}", "{'spec':{'$setElementOrder/tokens':'x'}}"),
              HasSubstr("not a list"));
  EXPECT_THAT(merge_refusal("{'spec':{}}", "{'spec':{'$deleteFromPrimitiveList/tokens':{}}}"),
              HasSubstr("not a list"));
}

TEST(StrategicMerge, merges_the_lists_of_real_pods) {
  const Type& pod = *find_type("", "v1", "Pod");
  const json::value object = doc(
      "{'metadata':{'finalizers':['f']},'spec':{'containers':[{'name':'c','env':[{'name':'A',"
      "'value':'1'},{'name':'B','value':'2'}],'volumeMounts':[{'mountPath':'/m','name':'v'}],"
      "'command':['sh','-c']}],'tolerations':[{'key':'t'}],'volumes':[{'name':'v','emptyDir':{}}]},"
      "'status':{'conditions':[{'type':'Ready','status':'False'}]}}");
  const json::value patch =
      doc("{'metadata':{'finalizers':['g']},'spec':{'containers':[{'name':'c','env':[{'name':'B',"
          "'value':'3'}],'volumeMounts':[{'mountPath':'/m','readOnly':true}],'command':['true']}],"
          "'tolerations':[{'key':'u'}],'volumes':[{'name':'v','$retainKeys':['name','hostPath'],"
          "'hostPath':{'path':'/'}}]},'status':{'conditions':[{'type':'Ready','status':'True'}]}}");
  EXPECT_EQ(
      to_json(apply_strategic_merge(pod, object, patch).value()),
      to_json(doc(
          "{'metadata':{'finalizers':['g','f']},'spec':{'containers':[{'name':'c','env':[{'name':"
          "'A','value':'1'},{'name':'B','value':'3'}],'volumeMounts':[{'mountPath':'/m','name':'v',"
          "'readOnly':true}],'command':['true']}],'tolerations':[{'key':'u'}],'volumes':[{'name':"
          "'v','hostPath':{'path':'/'}}]},'status':{'conditions':[{'type':'Ready','status':'True'"
          "}]}}")));
}

// Lists of distinct elements, as every served list is.
json::array arbitrary_tokens() {
  json::array out;
  for (const char* token : {"a", "b", "c", "d", "e"})
    if (*rc::gen::arbitrary<bool>())
      out.insert(out.begin() + *rc::gen::inRange<std::size_t>(0, out.size() + 1), token);
  return out;
}

void erase_named(json::array& containers, std::string_view name) {
  for (auto c = containers.begin(); c != containers.end();)
    c = text_at(*c, {"name"}) == name ? containers.erase(c) : c + 1;
}

json::value arbitrary_sample() {
  json::array containers;
  for (const json::value& name : arbitrary_tokens()) {
    json::object container{{"name", name}};
    if (*rc::gen::arbitrary<bool>()) container["image"] = *rc::gen::inRange(0, 3);
    if (*rc::gen::arbitrary<bool>()) container["args"] = arbitrary_tokens();
    containers.push_back(std::move(container));
  }
  json::object spec{{"containers", std::move(containers)}, {"tokens", arbitrary_tokens()}};
  if (*rc::gen::arbitrary<bool>()) spec["replicas"] = *rc::gen::inRange(0, 3);
  return json::object{{"spec", std::move(spec)}};
}

RC_GTEST_PROP(StrategicMerge, without_changes_changes_nothing, ()) {
  const json::value object = arbitrary_sample();
  RC_ASSERT(apply_strategic_merge(kSample, object, json::object()).value() == object);
  RC_ASSERT(apply_strategic_merge(kSample, object, object).value() == object);
}

RC_GTEST_PROP(StrategicMerge, changes_nothing_the_second_time, ()) {
  const json::value object = arbitrary_sample();
  json::value patch = arbitrary_sample();
  if (*rc::gen::arbitrary<bool>()) {
    json::object& spec = make_object(patch, {"spec"});
    for (const char* token : {"a", "c"}) {
      erase_named(spec["containers"].get_array(), token);
      spec["containers"].get_array().push_back(json::object{{"$patch", "delete"}, {"name", token}});
    }
  }
  const json::value once = apply_strategic_merge(kSample, object, patch).value();
  RC_ASSERT(apply_strategic_merge(kSample, once, patch).value() == once);
}

}  // namespace
}  // namespace plim::local::apiserver
