#include "local/apiserver/admission/admission_webhooks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/object.hpp"
#include "local/apiserver/admission/testing/webhook_server.hpp"
#include "local/apiserver/testing/api_fixture.hpp"

namespace plim::local::apiserver::testing {
namespace {

namespace res = kube::resources;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class AdmissionWebhooksTest : public ApiTest {
 protected:
  AdmissionWebhooksTest()
      : webhooks(AdmissionWebhooks::install(loop.executor(), *store, *server)),
        hook(loop.executor(), {"hooks.default.svc"}) {}

  ~AdmissionWebhooksTest() override {
    run_to_end(loop, webhooks->stop());
    run_to_end(loop, hook.stop());
  }

  // A webhook for pods; `more` adds to it or replaces members.
  json::value webhook(std::string_view name, std::string_view path, json::object more = {}) {
    json::object out{
        {"name", name},
        {"clientConfig", json::object{{"url", hook.url(path)}, {"caBundle", hook.ca_bundle()}}},
        {"rules", json::array{json::object{{"operations", json::array{"*"}},
                                           {"apiGroups", json::array{""}},
                                           {"apiVersions", json::array{"v1"}},
                                           {"resources", json::array{"pods"}}}}},
        {"sideEffects", "None"},
        {"admissionReviewVersions", json::array{"v1"}}};
    for (const auto& member : more) out[member.key()] = member.value();
    return out;
  }

  Result<json::value> configure(const kube::Resource& kind, std::string_view name,
                                json::array list) {
    json::value configuration =
        json::object{{"metadata", json::object{{"name", name}}}, {"webhooks", std::move(list)}};
    return run(client->create(kind, {"", ""}, std::move(configuration)));
  }

  void mutating(std::string_view name, json::array list) {
    auto made = configure(res::mutating_webhook_configurations, name, std::move(list));
    ASSERT_TRUE(made) << made.error().message;
  }

  void validating(std::string_view name, json::array list) {
    auto made = configure(res::validating_webhook_configurations, name, std::move(list));
    ASSERT_TRUE(made) << made.error().message;
  }

  Result<json::value> create_pod(std::string_view name = "p") {
    return run(client->create(res::pods, {"default", ""}, simple_pod(name)));
  }

  // The status of a rejected creation.
  json::value refusal() {
    const net::Response response =
        send("POST", "/api/v1/namespaces/default/pods", to_json(simple_pod("p")),
             {{"Content-Type", "application/json"}});
    EXPECT_GE(response.status, 400);
    return parsed(response.body);
  }

  // A webhook that adds a label to pods and records the labels that it was sent.
  void label_on(const std::string& path, std::string key) {
    hook.on(path, [this, key, path](const json::value& request) {
      const json::value* labels = find(request, {"object", "metadata", "labels"});
      seen.push_back(path + (labels ? to_json(*labels) : ""));
      return set_label(request, key, "1");
    });
  }

  std::unique_ptr<AdmissionWebhooks> webhooks;
  WebhookServer hook;
  std::vector<std::string> seen;
};

TEST_F(AdmissionWebhooksTest, change_what_is_stored) {
  label_on("/mutate", "touched");
  mutating("m", {webhook("m.example.com", "/mutate")});
  const auto made = create_pod();
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(kube::label_of(*made, "touched"), "1");
}

TEST_F(AdmissionWebhooksTest, receive_everything_about_the_write) {
  hook.on("/x", [](const json::value&) { return allow(); });
  validating("v", {webhook("v.example.com", "/x")});
  ASSERT_TRUE(create_pod());
  const net::Request& request = hook.requests.at(0);
  EXPECT_EQ(request.query, "timeout=10s");
  EXPECT_EQ(request.headers.get("Content-Type"), "application/json");
  EXPECT_EQ(request.headers.get("User-Agent"), "kube-apiserver-admission");
  const json::value& review = hook.reviews.at(0);
  EXPECT_EQ(text_at(review, {"kind"}), "AdmissionReview");
  EXPECT_EQ(text_at(review, {"apiVersion"}), "admission.k8s.io/v1");
  const json::value& body = review.at("request");
  EXPECT_EQ(text_at(body, {"uid"}).size(), 36u);
  EXPECT_EQ(to_json(body.at("kind")), R"({"group":"","version":"v1","kind":"Pod"})");
  EXPECT_EQ(to_json(body.at("resource")), R"({"group":"","version":"v1","resource":"pods"})");
  EXPECT_EQ(body.at("requestKind"), body.at("kind"));
  EXPECT_EQ(body.at("requestResource"), body.at("resource"));
  EXPECT_EQ(text_at(body, {"name"}), "p");
  EXPECT_EQ(text_at(body, {"namespace"}), "default");
  EXPECT_EQ(text_at(body, {"operation"}), "CREATE");
  EXPECT_EQ(to_json(body.at("userInfo")),
            R"({"username":"admin","groups":["system:masters","system:authenticated"]})");
  EXPECT_EQ(text_at(body, {"object", "kind"}), "Pod");
  EXPECT_EQ(text_at(body, {"object", "apiVersion"}), "v1");
  EXPECT_TRUE(body.at("oldObject").is_null());
  EXPECT_EQ(body.at("dryRun"), false);
  EXPECT_EQ(text_at(body, {"options", "kind"}), "CreateOptions");
}

TEST_F(AdmissionWebhooksTest, see_generated_names_only_when_they_validate) {
  hook.on("/x", [](const json::value&) { return allow(); });
  mutating("m", {webhook("m.example.com", "/x")});
  validating("v", {webhook("v.example.com", "/x")});
  json::value pod = simple_pod("");
  make_object(pod, {"metadata"}).erase("name");
  make_object(pod, {"metadata"})["generateName"] = "web-";
  ASSERT_TRUE(run(client->create(res::pods, {"default", ""}, pod)));
  ASSERT_EQ(hook.reviews.size(), 2u);
  const json::value& first = hook.reviews[0].at("request");
  EXPECT_EQ(find(first, {"name"}), nullptr);
  EXPECT_EQ(find(first, {"object", "metadata", "name"}), nullptr);
  const json::value& second = hook.reviews[1].at("request");
  EXPECT_THAT(std::string(text_at(second, {"name"})), StartsWith("web-"));
  EXPECT_EQ(text_at(second, {"object", "metadata", "name"}), text_at(second, {"name"}));
}

TEST_F(AdmissionWebhooksTest, mutate_in_the_order_of_their_names_and_lists) {
  for (const char* key : {"a", "b", "c"}) label_on(std::string("/") + key, key);
  mutating("second", {webhook("c.example.com", "/c")});
  mutating("first", {webhook("z.example.com", "/a"), webhook("b.example.com", "/b")});
  ASSERT_TRUE(create_pod());
  EXPECT_THAT(seen, ElementsAre("/a", R"(/b{"a":"1"})", R"(/c{"a":"1","b":"1"})"));
}

TEST_F(AdmissionWebhooksTest, are_called_again_if_others_changed_the_object) {
  label_on("/a", "a");
  label_on("/b", "b");
  mutating("m", {webhook("a.example.com", "/a", {{"reinvocationPolicy", "IfNeeded"}}),
                 webhook("b.example.com", "/b", {{"reinvocationPolicy", "IfNeeded"}})});
  ASSERT_TRUE(create_pod());
  EXPECT_THAT(seen, ElementsAre("/a", R"(/b{"a":"1"})", R"(/a{"a":"1","b":"1"})"));
}

TEST_F(AdmissionWebhooksTest, deny_with_their_own_message) {
  json::value status = json::object();
  hook.on("/x", [&](const json::value&) {
    return json::value(json::object{{"allowed", false}, {"status", status}});
  });
  validating("v", {webhook("v.example.com", "/x")});
  json::value refused = refusal();
  EXPECT_EQ(int_at(refused, {"code"}), 400);
  EXPECT_EQ(text_at(refused, {"message"}),
            "admission webhook \"v.example.com\" denied the request without explanation");
  EXPECT_FALSE(find(refused, {"reason"}));
  status = parsed(R"({"code":403,"reason":"Forbidden","message":"not here",
                      "details":{"name":"n","causes":[{"reason":"R","field":"f"}]}})");
  refused = refusal();
  EXPECT_EQ(int_at(refused, {"code"}), 403);
  EXPECT_EQ(text_at(refused, {"reason"}), "Forbidden");
  EXPECT_EQ(text_at(refused, {"message"}),
            "admission webhook \"v.example.com\" denied the request: not here");
  EXPECT_EQ(to_json(*find(refused, {"details"})),
            R"({"name":"n","causes":[{"reason":"R","field":"f"}]})");
  EXPECT_FALSE(run(client->get(res::pods, {"default", "p"})));
}

TEST_F(AdmissionWebhooksTest, fail_the_write_when_their_response_is_invalid) {
  mutating("m", {webhook("m.example.com", "/x")});
  const std::pair<const char*, const char*> cases[] = {
      {"not json", "received invalid webhook response"},
      {R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1","response":{}})",
       "expected webhook response of admission.k8s.io/v1"},
      {R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"})",
       "webhook response was absent"},
      {R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"x"}})",
       "expected response.uid="},
  };
  for (const auto& [body, message] : cases) {
    hook.raw = [answer = std::string(body)](const json::value&) {
      return net::Response{.status = 200, .body = answer};
    };
    const json::value refused = refusal();
    EXPECT_EQ(int_at(refused, {"code"}), 500);
    EXPECT_EQ(text_at(refused, {"reason"}), "InternalError");
    EXPECT_THAT(std::string(text_at(refused, {"message"})),
                StartsWith("Internal error occurred: failed calling webhook \"m.example.com\": "));
    EXPECT_THAT(std::string(text_at(refused, {"message"})), HasSubstr(message));
  }
  hook.raw = [](const json::value&) { return net::Response{.status = 503}; };
  EXPECT_THAT(std::string(text_at(refusal(), {"message"})), HasSubstr("503 Service Unavailable"));
}

TEST_F(AdmissionWebhooksTest, fail_the_write_when_their_patch_does_not_apply) {
  hook.on("/x", [](const json::value&) {
    return json::value(
        json::object{{"allowed", true},
                     {"patchType", "JSONPatch"},
                     {"patch", base64_encode(R"([{"op":"remove","path":"/spec/none"}])")}});
  });
  mutating("m", {webhook("m.example.com", "/x", {{"failurePolicy", "Ignore"}})});
  const json::value refused = refusal();
  EXPECT_EQ(int_at(refused, {"code"}), 500);
  EXPECT_THAT(std::string(text_at(refused, {"message"})),
              HasSubstr("remove operation does not apply"));
}

TEST_F(AdmissionWebhooksTest, may_fail_when_the_failure_policy_is_Ignore) {
  hook.raw = [](const json::value&) { return net::Response{.status = 500}; };
  mutating("m", {webhook("m.example.com", "/x", {{"failurePolicy", "Ignore"}})});
  EXPECT_TRUE(create_pod());
  EXPECT_EQ(hook.requests.size(), 1u);
}

TEST_F(AdmissionWebhooksTest, have_a_timeout) {
  hook.silent = true;
  hook.on("/x", [](const json::value&) { return allow(); });
  validating("v", {webhook("v.example.com", "/x", {{"timeoutSeconds", 1}})});
  const json::value refused = refusal();
  EXPECT_EQ(int_at(refused, {"code"}), 500);
  EXPECT_EQ(hook.requests.at(0).query, "timeout=1s");
}

TEST_F(AdmissionWebhooksTest, must_show_a_certificate_of_their_authority) {
  hook.on("/x", [](const json::value&) { return allow(); });
  WebhookServer other(loop.executor());
  mutating("m", {webhook("m.example.com", "/x",
                         {{"clientConfig", json::object{{"url", hook.url("/x")},
                                                        {"caBundle", other.ca_bundle()}}}})});
  EXPECT_EQ(int_at(refusal(), {"code"}), 500);
  EXPECT_TRUE(hook.requests.empty());
  run_to_end(loop, other.stop());
}

TEST_F(AdmissionWebhooksTest, validate_all_at_once) {
  hook.barrier = 2;  // each is answered only after both have arrived
  hook.on("/a", [](const json::value&) { return allow(); });
  hook.on("/b", [](const json::value&) { return allow(); });
  validating("v", {webhook("a.example.com", "/a"), webhook("b.example.com", "/b")});
  EXPECT_TRUE(create_pod());
}

TEST_F(AdmissionWebhooksTest, are_called_for_updates_and_deletions) {
  hook.on("/x", [](const json::value&) { return allow(); });
  json::value pod = create_pod().value();
  validating("v", {webhook("v.example.com", "/x")});
  make_object(pod, {"metadata", "labels"})["a"] = "b";
  ASSERT_TRUE(run(client->update(res::pods, {"default", "p"}, pod)));
  ASSERT_TRUE(run(client->remove(res::pods, {"default", "p"})));
  ASSERT_EQ(hook.reviews.size(), 2u);
  const json::value& update = hook.reviews[0].at("request");
  EXPECT_EQ(text_at(update, {"operation"}), "UPDATE");
  EXPECT_EQ(text_at(update, {"object", "metadata", "labels", "a"}), "b");
  EXPECT_EQ(text_at(update, {"oldObject", "kind"}), "Pod");
  const json::value& removal = hook.reviews[1].at("request");
  EXPECT_EQ(text_at(removal, {"operation"}), "DELETE");
  EXPECT_TRUE(removal.at("object").is_null());
  EXPECT_EQ(text_at(removal, {"oldObject", "metadata", "name"}), "p");
}

TEST_F(AdmissionWebhooksTest, are_told_about_dry_runs) {
  hook.on("/x", [](const json::value&) { return allow(); });
  mutating("m", {webhook("m.example.com", "/x", {{"sideEffects", "NoneOnDryRun"}})});
  kube::WriteOptions options;
  options.dry_run = true;
  ASSERT_TRUE(run(client->create(res::pods, {"default", ""}, simple_pod("p"), options)));
  const json::value& request = hook.reviews.at(0).at("request");
  EXPECT_EQ(request.at("dryRun"), true);
  EXPECT_EQ(to_json(request.at("options").at("dryRun")), R"(["All"])");
}

TEST_F(AdmissionWebhooksTest, look_at_the_labels_of_the_namespace) {
  hook.on("/x", [](const json::value&) { return allow(); });
  const json::value selector = parsed(
      R"({"matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["default"]}]})");
  mutating("m", {webhook("m.example.com", "/x", {{"namespaceSelector", selector}})});
  auto ns = run(client->get(res::namespaces, {"", "default"})).value();
  make_object(ns, {"metadata", "labels"})["kubernetes.io/metadata.name"] = "default";
  ASSERT_TRUE(run(client->update(res::namespaces, {"", "default"}, ns)));
  ASSERT_TRUE(create_pod());
  EXPECT_TRUE(hook.requests.empty());
}

TEST_F(AdmissionWebhooksTest, are_called_only_when_their_conditions_hold) {
  hook.on("/x", [](const json::value&) { return allow(); });
  auto conditions = [](const char* expression) {
    return json::object{
        {"matchConditions", json::array{json::object{{"name", "c"}, {"expression", expression}}}}};
  };
  mutating("m", {webhook("m.example.com", "/x", conditions("object.metadata.name == 'other'"))});
  ASSERT_TRUE(create_pod());
  EXPECT_TRUE(hook.requests.empty());
  ASSERT_TRUE(create_pod("other"));
  EXPECT_EQ(hook.requests.size(), 1u);
}

TEST_F(AdmissionWebhooksTest, are_reached_through_services) {
  label_on("/mutate", "touched");
  const json::value service =
      parsed(R"({"metadata":{"name":"hooks"},"spec":{"ports":[{"name":"https","port":443}]}})");
  ASSERT_TRUE(run(client->create(res::services, {"default", ""}, service)));
  const json::value client_config = json::object{
      {"caBundle", hook.ca_bundle()},
      {"service", json::object{{"namespace", "default"}, {"name", "hooks"}, {"path", "/mutate"}}}};
  mutating("m", {webhook("m.example.com", "", {{"clientConfig", client_config}})});
  EXPECT_THAT(std::string(text_at(refusal(), {"message"})),
              HasSubstr("no endpoints available for service \"hooks\""));

  const json::value slice = parsed(fmt::format(
      R"({{"metadata":{{"name":"hooks-1","labels":{{"kubernetes.io/service-name":"hooks"}}}},
          "addressType":"IPv4","ports":[{{"name":"https","port":{}}}],
          "endpoints":[{{"addresses":["192.0.2.1"],"conditions":{{"ready":false}}}},
                       {{"addresses":["127.0.0.1"],"conditions":{{"ready":true}}}}]}})",
      hook.port()));
  const kube::Resource slices{.group = "discovery.k8s.io",
                              .version = "v1",
                              .plural = "endpointslices",
                              .kind = "EndpointSlice"};
  ASSERT_TRUE(run(client->create(slices, {"default", ""}, slice)));
  const auto made = create_pod();
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(kube::label_of(*made, "touched"), "1");
}

TEST_F(AdmissionWebhooksTest, are_never_called_for_webhook_configurations) {
  hook.on("/x", [](const json::value&) { return json::value(json::object{{"allowed", false}}); });
  const json::value everything =
      parsed(R"([{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/*"]}])");
  validating("v", {webhook("v.example.com", "/x", {{"rules", everything}})});
  validating("w", {webhook("w.example.com", "/x", {{"rules", everything}})});
  EXPECT_TRUE(run(client->remove(res::validating_webhook_configurations, {"", "v"})));
  EXPECT_TRUE(hook.requests.empty());
}

TEST_F(AdmissionWebhooksTest, are_rejected_when_they_cannot_be_evaluated) {
  const json::value conditions =
      parsed(R"([{"name":"c","expression":"size(object.spec.containers) > 1"}])");
  auto made = configure(res::mutating_webhook_configurations, "m",
                        {webhook("m.example.com", "/x", {{"matchConditions", conditions}})});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Code::invalid);
  EXPECT_THAT(made.error().message, HasSubstr("size(object.spec.containers) > 1"));
  EXPECT_THAT(made.error().message, HasSubstr("webhooks[0].matchConditions[0].expression"));
}

TEST_F(AdmissionWebhooksTest, return_their_warnings_to_the_client) {
  hook.on("/x", [](const json::value&) {
    return json::value(json::object{{"allowed", true}, {"warnings", json::array{"mind the gap"}}});
  });
  validating("v", {webhook("v.example.com", "/x")});
  auto admission = std::make_shared<Admission>();
  admission->call = std::make_shared<Call>();
  admission->kind = server->kinds().find("", "v1", "pods");
  admission->ns = "default";
  admission->object = simple_pod("p");
  ASSERT_TRUE(run(webhooks->validate(admission)));
  EXPECT_THAT(admission->call->warnings, ElementsAre("mind the gap"));
}

}  // namespace
}  // namespace plim::local::apiserver::testing
