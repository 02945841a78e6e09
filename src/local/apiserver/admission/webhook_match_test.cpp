#include "local/apiserver/admission/webhook_match.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "local/apiserver/patch/testing/sample_types.hpp"

namespace plim::local::apiserver {
namespace {

using testing::doc;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Webhook webhook(const char* members) {
  json::value object = doc(members);
  object.as_object()["name"] = "a.b.c";
  const json::value configuration = json::object{{"webhooks", json::array{object}}};
  std::vector<Webhook> out = webhooks_of(configuration);
  PLIM_ASSERT(out.size() == 1);
  return out[0];
}

Admission creation(std::string_view group, std::string_view plural, std::string subresource = "") {
  static const Kinds kinds;
  Admission out;
  out.kind = kinds.find(group, "v1", plural);
  out.ns = out.kind->namespaced ? "ns" : "";
  out.subresource = std::move(subresource);
  out.object = doc("{'metadata':{'name':'x','labels':{'app':'web'}}}");
  return out;
}

TEST(WebhookMatch, follows_the_rules) {
  struct Case {
    const char* rule;
    const char* group;
    const char* plural;
    const char* subresource;
    bool matches;
  };

  const Case cases[] = {
      {"'operations':['CREATE'],'apiGroups':[''],'apiVersions':['v1'],'resources':['pods']", "",
       "pods", "", true},
      {"'operations':['*'],'apiGroups':['*'],'apiVersions':['*'],'resources':['*']", "apps",
       "deployments", "", true},
      {"'operations':['*'],'apiGroups':['*'],'apiVersions':['*'],'resources':['*']", "", "pods",
       "binding", false},
      {"'operations':['*'],'apiGroups':['*'],'apiVersions':['*'],'resources':['*/*']", "", "pods",
       "binding", true},
      {"'operations':['*'],'apiGroups':['*'],'apiVersions':['*'],'resources':['*/*']", "", "pods",
       "", true},
      {"'operations':['*'],'apiGroups':['*'],'apiVersions':['*'],'resources':['pods/*']", "",
       "pods", "status", true},
      {"'operations':['*'],'apiGroups':['*'],'apiVersions':['*'],'resources':['*/status']", "",
       "pods", "status", true},
      {"'operations':['*'],'apiGroups':['*'],'apiVersions':['*'],'resources':['*/status']", "",
       "pods", "", false},
      {"'operations':['UPDATE'],'apiGroups':[''],'apiVersions':['v1'],'resources':['pods']", "",
       "pods", "", false},
      {"'operations':['CREATE'],'apiGroups':['apps'],'apiVersions':['v1'],'resources':['pods']", "",
       "pods", "", false},
      {"'operations':['CREATE'],'apiGroups':[''],'apiVersions':['v2'],'resources':['pods']", "",
       "pods", "", false},
      {"'operations':['*'],'apiGroups':['*'],'apiVersions':['*'],'resources':['*'],'scope':"
       "'Cluster'",
       "", "pods", "", false},
      {"'operations':['*'],'apiGroups':['*'],'apiVersions':['*'],'resources':['*'],'scope':"
       "'Cluster'",
       "", "nodes", "", true},
      {"'operations':['*'],'apiGroups':['*'],'apiVersions':['*'],'resources':['*'],'scope':"
       "'Namespaced'",
       "", "nodes", "", false},
  };
  const json::object labels;
  for (const Case& c : cases) {
    const std::string members = std::string("{'rules':[{") + c.rule + "}]}";
    EXPECT_EQ(
        selects(webhook(members.c_str()), creation(c.group, c.plural, c.subresource), &labels),
        c.matches)
        << c.rule << " " << c.plural << "/" << c.subresource;
  }
}

constexpr const char* kAll =
    "'rules':[{'operations':['*'],'apiGroups':['*'],'apiVersions':['*'],'resources':['*/*']}]";

Webhook with(std::string members) {
  return webhook((std::string("{") + kAll + "," + members + "}").c_str());
}

TEST(WebhookMatch, follows_the_selectors) {
  const json::object ours = doc("{'team':'a'}").as_object();
  const json::object others;
  const Webhook by_namespace = with("'namespaceSelector':{'matchLabels':{'team':'a'}}");
  EXPECT_TRUE(selects(by_namespace, creation("", "pods"), &ours));
  EXPECT_FALSE(selects(by_namespace, creation("", "pods"), &others));
  EXPECT_TRUE(selects(by_namespace, creation("", "nodes"), nullptr));

  const Webhook by_object = with("'objectSelector':{'matchLabels':{'app':'web'}}");
  Admission admission = creation("", "pods");
  EXPECT_TRUE(selects(by_object, admission, &others));
  admission.before = admission.object;
  admission.object = doc("{'metadata':{}}");
  EXPECT_TRUE(selects(by_object, admission, &others)) << "the old object counts too";
  admission.before = nullptr;
  EXPECT_FALSE(selects(by_object, admission, &others));
  admission.object = nullptr;
  EXPECT_TRUE(selects(with("'objectSelector':{}"), admission, &others));
}

TEST(WebhookMatch, follows_the_conditions) {
  const json::value request = doc("{'operation':'CREATE','object':{'spec':{'x':1}}}");
  auto holds = [&](const char* conditions) {
    return conditions_hold(with(std::string("'matchConditions':") + conditions), request);
  };
  EXPECT_TRUE(holds("[]").value());
  EXPECT_TRUE(holds("[{'name':'a','expression':'object.spec.x == 1'}]").value());
  EXPECT_FALSE(holds("[{'name':'a','expression':'object.spec.x == 2'}]").value());
  EXPECT_FALSE(holds("[{'name':'a','expression':'object.spec.y == 2'},"
                     "{'name':'b','expression':'false'}]")
                   .value());
  EXPECT_THAT(holds("[{'name':'a','expression':'object.spec.y == 2'}]").error().message,
              HasSubstr("expression 'object.spec.y == 2' resulted in error: no such key: y"));
}

std::string causes(const char* members) {
  json::value configuration = json::object();
  json::value complete =
      doc("{'name':'a.b.c','clientConfig':{'url':'https://127.0.0.1:1/x'},'sideEffects':'None',"
          "'admissionReviewVersions':['v1']}");
  const json::value changes = doc(members);
  for (const auto& member : changes.as_object())
    if (member.value().is_null())
      complete.as_object().erase(member.key());
    else
      complete.as_object()[member.key()] = member.value();
  configuration.as_object()["webhooks"] = json::array{complete};
  std::string out;
  for (const Cause& cause : check_webhooks(configuration))
    out += cause.field + " " + cause.reason + " " + cause.message + "\n";
  return out;
}

TEST(WebhookCheck, accepts_what_can_be_called) {
  EXPECT_THAT(causes("{}"), IsEmpty());
  EXPECT_THAT(causes("{'clientConfig':{'service':{'namespace':'n','name':'s'}},"
                     "'admissionReviewVersions':['v1beta1','v1'],'sideEffects':'NoneOnDryRun'}"),
              IsEmpty());
}

TEST(WebhookCheck, rejects_what_cannot_be_called) {
  const std::pair<const char*, const char*> cases[] = {
      {"{'name':null}", "webhooks[0].name FieldValueRequired"},
      {"{'name':'short'}", "webhooks[0].name FieldValueInvalid"},
      {"{'clientConfig':{}}", "exactly one of url or service is required"},
      {"{'clientConfig':{'url':'https://h','service':{}}}", "exactly one of url or service"},
      {"{'clientConfig':{'url':'http://h'}}", "webhooks[0].clientConfig.url FieldValueInvalid"},
      {"{'clientConfig':{'url':'https://h/x?y'}}", "query parameters are not permitted"},
      {"{'clientConfig':{'url':'https://h','caBundle':'%'}}", "clientConfig.caBundle"},
      {"{'clientConfig':{'service':{'name':'s'}}}", "clientConfig.service.name FieldValueRequired"},
      {"{'clientConfig':{'service':{'name':'s','namespace':'n','path':'x'}}}",
       "must start with a '/'"},
      {"{'sideEffects':'Some'}",
       "webhooks[0].sideEffects FieldValueNotSupported Unsupported value: \"Some\": supported "
       "values: \"None\", \"NoneOnDryRun\""},
      {"{'sideEffects':null}", "webhooks[0].sideEffects FieldValueRequired"},
      {"{'admissionReviewVersions':['v1beta1']}", "must include at least one of v1"},
      {"{'admissionReviewVersions':null}",
       "webhooks[0].admissionReviewVersions FieldValueRequired"},
      {"{'timeoutSeconds':31}", "between 1 and 30 seconds"},
      {"{'failurePolicy':'Maybe'}", "webhooks[0].failurePolicy FieldValueNotSupported"},
      {"{'namespaceSelector':{'matchExpressions':[{'key':'a','operator':'Near'}]}}",
       "webhooks[0].namespaceSelector"},
      {"{'matchConditions':[{'name':'m','expression':'object.all(x, true)'}]}",
       "webhooks[0].matchConditions[0].expression FieldValueInvalid Invalid value: "
       "\"object.all(x, true)\": compilation failed"},
  };
  for (const auto& [members, expected] : cases)
    EXPECT_THAT(causes(members), HasSubstr(expected)) << members;
}

}  // namespace
}  // namespace plim::local::apiserver
