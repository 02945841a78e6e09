#include "local/apiserver/patch/server_side_apply.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "local/apiserver/patch/managed_fields.hpp"
#include "local/apiserver/patch/testing/sample_types.hpp"

namespace plim::local::apiserver {
namespace {

using testing::doc;
using ::testing::ElementsAre;
using testing::kSample;

const WallTime kNow{std::chrono::seconds(1'700'000'000)};

ApplyRequest by(std::string manager) {
  return {.manager = std::move(manager), .api_version = "v1", .subresource = "", .now = kNow};
}

ApplyRequest forced(std::string manager) {
  ApplyRequest out = by(std::move(manager));
  out.force = true;
  return out;
}

json::value apply(json::value object, const char* configuration, ApplyRequest request) {
  auto result = apply_server_side(&kSample, std::move(object), doc(configuration), request);
  EXPECT_TRUE(result) << result.error().message;
  return result ? *result : json::value(json::object());
}

// Without its managedFields.
std::string content(json::value object) {
  json::object& metadata = make_object(object, {"metadata"});
  metadata.erase("managedFields");
  if (metadata.empty()) object.get_object().erase("metadata");
  return to_json(object);
}

std::string fields(const json::value& object, std::string_view manager) {
  for (const FieldManager& candidate : managers_of(object))
    if (candidate.name == manager) return to_json(to_fields_v1(candidate.fields));
  return "none";
}

std::string applied_json(const char* text) {
  return to_json(doc(text));
}

TEST(ServerSideApply, creates_an_object_and_records_the_manager) {
  const json::value object =
      apply(json::object(),
            "{'apiVersion':'v1','kind':'Sample','metadata':{'name':'s','labels':{'a':'1'}},"
            "'spec':{'replicas':1,'selector':{'x':'y'},'tokens':['t'],"
            "'containers':[{'name':'c','image':'i','args':['a'],'ports':[{'containerPort':80}]}]}}",
            by("m1"));
  const json::value& entry = object.at_pointer("/metadata/managedFields/0");
  EXPECT_EQ(text_at(entry, {"manager"}), "m1");
  EXPECT_EQ(text_at(entry, {"operation"}), "Apply");
  EXPECT_EQ(text_at(entry, {"apiVersion"}), "v1");
  EXPECT_EQ(text_at(entry, {"time"}), "2023-11-14T22:13:20Z");
  EXPECT_EQ(text_at(entry, {"fieldsType"}), "FieldsV1");
  EXPECT_EQ(
      fields(object, "m1"),
      R"({"f:metadata":{"f:labels":{"f:a":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":)"
      R"({".":{},"f:args":{},"f:image":{},"f:name":{},"f:ports":{)"
      R"("k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}}}},)"
      R"("f:replicas":{},"f:selector":{},"f:tokens":{"v:\"t\"":{}}}})");
}

TEST(ServerSideApply, removes_what_is_no_longer_applied) {
  json::value object = apply(json::object(),
                             "{'data':{'a':'1','b':'2'},'spec':{'replicas':1,'tokens':['x','y'],"
                             "'containers':[{'name':'c','image':'1'},{'name':'d','image':'1'}]}}",
                             by("m1"));
  object = apply(object, "{'data':{'b':'2'},'spec':{'tokens':['y'],'containers':[{'name':'d'}]}}",
                 by("m1"));
  EXPECT_EQ(content(object),
            applied_json("{'data':{'b':'2'},'spec':{'tokens':['y'],'containers':[{'name':'d'}]}}"));
  EXPECT_EQ(content(apply(object, "{}", by("m1"))), applied_json("{'spec':{}}"));
}

TEST(ServerSideApply, keeps_what_others_own_or_wrote) {
  json::value object = apply(doc("{'data':{'z':'other'}}"), "{'data':{'a':'1','b':'2'}}", by("m1"));
  object = apply(object, "{'data':{'a':'1'}}", by("m2"));
  object = apply(object, "{'data':{}}", by("m1"));
  EXPECT_EQ(content(object), applied_json("{'data':{'z':'other','a':'1'}}"));
  EXPECT_EQ(fields(object, "m1"), R"({"f:data":{}})");
}

TEST(ServerSideApply, removes_an_object_with_its_defaults_when_it_has_no_owner) {
  json::value object =
      apply(json::object(), "{'spec':{'containers':[{'name':'c','probe':{'path':'/'}}]}}", by("m"));
  object.at_pointer("/spec/containers/0/probe").as_object()["period"] = 10;  // a default
  object = apply(object, "{'spec':{'containers':[{'name':'c'}]}}", by("m"));
  EXPECT_EQ(content(object), applied_json("{'spec':{'containers':[{'name':'c'}]}}"));
}

TEST(ServerSideApply, changes_nothing_the_second_time) {
  const char* configuration = "{'data':{'a':'1'},'spec':{'tokens':['x']}}";
  json::value once = apply(doc("{'spec':{'tokens':['w']}}"), configuration, by("m"));
  ApplyRequest later = by("m");
  later.now += std::chrono::hours(1);
  EXPECT_EQ(to_json(apply(once, configuration, later)), to_json(once));
}

TEST(ServerSideApply, rejects_changes_of_what_another_manager_applied) {
  const json::value object = apply(json::object(), "{'data':{'a':'1','b':'1'}}", by("m1"));
  std::vector<Cause> causes;
  auto result = apply_server_side(&kSample, object, doc("{'data':{'a':'2'}}"), by("m2"), &causes);
  EXPECT_EQ(result.error().code, Code::conflict);
  EXPECT_EQ(result.error().message, R"(Apply failed with 1 conflict: conflict with "m1": .data.a)");
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_EQ(causes[0].reason, "FieldManagerConflict");
  EXPECT_EQ(causes[0].message, R"(conflict with "m1")");
  EXPECT_EQ(causes[0].field, ".data.a");
}

TEST(ServerSideApply, lists_several_conflicts_by_manager) {
  json::value object = apply(json::object(), "{'data':{'a':'1','b':'1'}}", by("m1"));
  json::value before = object;
  make_object(object, {"spec"})["containers"] = doc("[{'name':'c','image':'1'}]");
  track_update(&kSample, before, object,
               {.manager = "kubectl", .api_version = "v1", .subresource = "", .now = kNow});
  auto result = apply_server_side(
      &kSample, object,
      doc("{'data':{'a':'2','b':'2'},'spec':{'containers':[{'name':'c','image':'2'}]}}"), by("m2"));
  EXPECT_EQ(result.error().message,
            "Apply failed with 3 conflicts: conflicts with \"kubectl\" using v1 at "
            "2023-11-14T22:13:20Z:\n- .spec.containers[name=\"c\"].image\nconflicts with \"m1\":\n"
            "- .data.a\n- .data.b");
}

TEST(ServerSideApply, shares_a_field_with_the_same_value) {
  json::value object = apply(json::object(), "{'data':{'a':'1'}}", by("m1"));
  object = apply(object, "{'data':{'a':'1'}}", by("m2"));
  EXPECT_EQ(fields(object, "m1"), fields(object, "m2"));
}

TEST(ServerSideApply, moves_fields_to_the_manager_that_forces) {
  json::value object = apply(json::object(), "{'data':{'a':'1','b':'1'}}", by("m1"));
  object = apply(object, "{'data':{'a':'2'}}", forced("m2"));
  EXPECT_EQ(content(object), applied_json("{'data':{'a':'2','b':'1'}}"));
  EXPECT_EQ(fields(object, "m1"), R"({"f:data":{"f:b":{}}})");
  EXPECT_EQ(fields(object, "m2"), R"({"f:data":{"f:a":{}}})");
}

TEST(ServerSideApply, orders_elements_like_the_configuration_and_puts_others_first) {
  struct Case {
    const char* live;
    const char* applied;
    const char* result;
  };

  for (const Case& c :
       {Case{"['a','b','c']", "['c','a']", "['b','c','a']"},
        Case{"['a','b']", "['n','a']", "['n','a','b']"},
        Case{"['x','a']", "['n','a']", "['x','n','a']"},
        Case{"['a','b']", "['a','n']", "['a','b','n']"}, Case{"[]", "['b','a']", "['b','a']"}}) {
    json::value live = json::object{{"spec", json::object{{"tokens", doc(c.live)}}}};
    json::value applied = json::object{{"spec", json::object{{"tokens", doc(c.applied)}}}};
    auto result = apply_server_side(&kSample, live, applied, by("m"));
    EXPECT_EQ(to_json(*find(result.value(), {"spec", "tokens"})), json(c.result)) << c.live;
  }
}

TEST(ServerSideApply, treats_lists_of_custom_resources_as_one) {
  ApplyRequest request = by("m1");
  json::value object =
      apply_server_side(nullptr, json::object(),
                        doc("{'metadata':{'finalizers':['x']},'spec':{'l':[1,2],'o':{'a':1}}}"),
                        request)
          .value();
  EXPECT_EQ(
      fields(object, "m1"),
      R"({"f:metadata":{"f:finalizers":{"v:\"x\"":{}}},"f:spec":{"f:l":{},"f:o":{"f:a":{}}}})");
}

TEST(ServerSideApply, owns_only_the_status_through_its_subresource) {
  ApplyRequest request = by("m1");
  request.subresource = "status";
  const char* configuration = "{'spec':{'replicas':2},'status':{'path':'/'}}";
  EXPECT_EQ(fields(apply(json::object(), configuration, request), "m1"),
            R"({"f:status":{"f:path":{}}})");
  EXPECT_EQ(fields(apply(json::object(), configuration, by("m1")), "m1"),
            R"({"f:spec":{"f:replicas":{}}})");
}

TEST(ServerSideApply, rejects_configurations_that_do_not_match_the_schema) {
  auto refusal = [](const char* configuration) {
    auto result = apply_server_side(&kSample, json::object(), doc(configuration), by("m"));
    return result ? std::string("accepted") : result.error().message;
  };
  EXPECT_EQ(refusal("[]"), "the applied configuration is not an object");
  EXPECT_EQ(refusal("{'metadata':{'managedFields':[]}}"), "metadata.managedFields must be nil");
  EXPECT_EQ(refusal("{'spec':{'nope':1}}"), ".spec.nope: field not declared in schema");
  EXPECT_EQ(refusal("{'spec':{'containers':[{'image':'i'}]}}"),
            ".spec.containers: element 0: associative list with keys has an element that omits key "
            "field \"name\"");
  EXPECT_EQ(refusal("{'spec':{'tokens':['a','a']}}"),
            ".spec.tokens: duplicate entries for key [\"a\"]");
}

TEST(ServerSideApply, of_an_empty_list_claims_nothing_and_stays_the_same) {
  const json::value once = apply(json::object(), "{'spec':{'tokens':[]},'data':{}}", by("m1"));
  EXPECT_EQ(fields(once, "m1"), R"({"f:data":{}})");
  EXPECT_EQ(apply(once, "{'spec':{'tokens':[]},'data':{}}", by("m1")), once);
}

TEST(ManagedFields, record_what_plain_updates_change) {
  PlainUpdate request{.manager = "kubectl", .api_version = "v1", .subresource = "", .now = kNow};
  json::value object = doc("{'metadata':{'name':'s'},'data':{'a':'1','b':'1'}}");
  track_update(&kSample, json::object(), object, request);
  EXPECT_EQ(fields(object, "kubectl"), R"({"f:data":{"f:a":{},"f:b":{}}})");

  object = apply(object, "{'data':{'a':'1'}}", by("m1"));
  json::value next = object;
  make_object(next, {"data"}) = doc("{'a':'2'}").get_object();
  request.manager = "other";
  track_update(&kSample, object, next, request);
  EXPECT_EQ(fields(next, "kubectl"), "none");
  EXPECT_EQ(fields(next, "m1"), "none");
  EXPECT_EQ(fields(next, "other"), R"({"f:data":{"f:a":{}}})");
}

TEST(ManagedFields, are_inherited_and_cleared_on_request) {
  const PlainUpdate request{.manager = "k", .api_version = "v1", .subresource = "", .now = kNow};
  const json::value before = apply(json::object(), "{'data':{'a':'1'}}", by("m1"));
  json::value same = doc("{'data':{'a':'1'}}");
  track_update(&kSample, before, same, request);
  EXPECT_EQ(to_json(same.at_pointer("/metadata/managedFields")),
            to_json(before.at_pointer("/metadata/managedFields")));
  json::value cleared = doc("{'metadata':{'managedFields':[{}]},'data':{'a':'1'}}");
  track_update(&kSample, before, cleared, request);
  EXPECT_EQ(to_json(cleared), applied_json("{'metadata':{},'data':{'a':'1'}}"));
}

TEST(ManagedFields, that_are_invalid_own_nothing) {
  EXPECT_TRUE(managers_of(doc("{'metadata':{'managedFields':[1,{},{'fieldsV1':{'x':{}}},"
                              "{'manager':'m','fieldsV1':{'f:a':1}}]}}"))
                  .empty());
}

TEST(FieldSet, reads_back_what_it_prints) {
  for (const char* text : {"{}", "{'f:a':{}}", "{'f:a':{'.':{},'f:b':{}}}", "{'i:0':{},'v:1':{}}"})
    EXPECT_EQ(to_json(to_fields_v1(parse_fields_v1(doc(text)).value())), json(text));
  for (const char* text : {"[]", "{'a':{}}", "{'f:a':[]}"})
    EXPECT_FALSE(parse_fields_v1(doc(text))) << text;
}

TEST(FieldSet, prints_paths_as_in_messages) {
  const FieldSet set =
      parse_fields_v1(doc("{'f:a':{'v:1':{},'i:2':{}},'f:b':{'.':{},'f:c':{}}}")).value();
  EXPECT_THAT(paths_of(set), ElementsAre(".b", ".a[2]", ".a[=1]", ".b.c"));
}

}  // namespace
}  // namespace plim::local::apiserver
