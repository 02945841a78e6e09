#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/object.hpp"
#include "local/apiserver/testing/api_fixture.hpp"

namespace plim::local::apiserver::testing {
namespace {

namespace res = kube::resources;

class SubresourcesTest : public ApiTest {
 protected:
  json::value ok(const net::Response& response, int status = 200) {
    EXPECT_EQ(response.status, status) << response.body;
    return parsed(response.body);
  }

  void deploy() {
    ok(send("POST", "/apis/apps/v1/namespaces/default/deployments",
            R"({"metadata":{"name":"d"},"spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"}},
                "template":{"metadata":{"labels":{"a":"b"}},
                            "spec":{"containers":[{"name":"c","image":"i:1"}]}}}})"),
       201);
  }

  static constexpr std::string_view kDeployment = "/apis/apps/v1/namespaces/default/deployments/d";
  static constexpr std::string_view kPods = "/api/v1/namespaces/default/pods";
};

TEST_F(SubresourcesTest, binding_places_a_pod) {
  ok(send("POST", kPods, to_json(simple_pod("p"))), 201);
  // As the Python client does: without a kind, posted to the collection.
  ok(send("POST", "/api/v1/namespaces/default/bindings",
          R"({"metadata":{"name":"p","annotations":{"x":"y"}},"target":{"name":"n1"}})"),
     201);
  const json::value pod = ok(send("GET", std::string(kPods) + "/p"));
  EXPECT_EQ(text_at(pod, {"spec", "nodeName"}), "n1");
  EXPECT_EQ(kube::annotation_of(pod, "x"), "y");
  EXPECT_EQ(text_at(pod.at("status").at("conditions").at(0), {"type"}), "PodScheduled");
  EXPECT_EQ(text_at(pod, {"status", "phase"}), "Pending");
}

TEST_F(SubresourcesTest, scale_shows_and_changes_replicas) {
  deploy();
  const json::value scale = ok(send("GET", std::string(kDeployment) + "/scale"));
  EXPECT_EQ(text_at(scale, {"kind"}), "Scale");
  EXPECT_EQ(text_at(scale, {"apiVersion"}), "autoscaling/v1");
  EXPECT_EQ(int_at(scale, {"spec", "replicas"}), 2);
  EXPECT_EQ(text_at(scale, {"status", "selector"}), "a=b");
  ok(send("PATCH", std::string(kDeployment) + "/scale", R"({"spec":{"replicas":5}})",
          {{"Content-Type", "application/merge-patch+json"}}));
  const json::value deployment = ok(send("GET", kDeployment));
  EXPECT_EQ(int_at(deployment, {"spec", "replicas"}), 5);
  EXPECT_EQ(int_at(deployment, {"metadata", "generation"}), 2);
  EXPECT_EQ(send("PUT", std::string(kDeployment) + "/scale", to_json(scale)).status, 409);
  EXPECT_EQ(send("PATCH", std::string(kDeployment) + "/scale", R"({"spec":{"replicas":-1}})",
                 {{"Content-Type", "application/merge-patch+json"}})
                .status,
            422);
}

TEST_F(SubresourcesTest, eviction_obeys_the_disruption_budget) {
  json::value pod = simple_pod("p");
  make_object(pod, {"metadata", "labels"})["app"] = "web";
  make_object(pod, {"spec"})["nodeName"] = "n1";
  ok(send("POST", kPods, to_json(pod)), 201);
  auto running = run(client->get(res::pods, {"default", "p"}));
  make_object(*running, {"status"})["phase"] = "Running";
  ASSERT_TRUE(run(client->update(res::pods, {"default", "p", "status"}, *running)));
  json::value budget = ok(send("POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
                               R"({"metadata":{"name":"b"},"spec":{"minAvailable":1,
                  "selector":{"matchLabels":{"app":"web"}}}})"),
                          201);
  const std::string eviction = R"({"kind":"Eviction","apiVersion":"policy/v1"})";
  auto refused = send("POST", std::string(kPods) + "/p/eviction", eviction);
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(text_at(parsed(refused.body).at("details").at("causes").at(0), {"reason"}),
            "DisruptionBudget");
  make_object(budget, {"status"}) = {{"disruptionsAllowed", 1},
                                     {"observedGeneration", 1},
                                     {"currentHealthy", 1},
                                     {"desiredHealthy", 0},
                                     {"expectedPods", 1}};
  ok(send("PUT", "/apis/policy/v1/namespaces/default/poddisruptionbudgets/b/status",
          to_json(budget)));
  ok(send("POST", std::string(kPods) + "/p/eviction", eviction), 201);
  EXPECT_TRUE(kube::is_being_deleted(ok(send("GET", std::string(kPods) + "/p"))));
  const json::value spent =
      ok(send("GET", "/apis/policy/v1/namespaces/default/poddisruptionbudgets/b"));
  EXPECT_EQ(int_at(spent, {"status", "disruptionsAllowed"}).value_or(0), 0);
}

TEST_F(SubresourcesTest, a_namespace_ends_when_it_is_finalized) {
  const json::value made =
      ok(send("POST", "/api/v1/namespaces", R"({"metadata":{"name":"a"}})"), 201);
  EXPECT_EQ(text_at(made, {"status", "phase"}), "Active");
  EXPECT_EQ(kube::label_of(made, "kubernetes.io/metadata.name"), "a");
  EXPECT_EQ(made.at("spec").at("finalizers"), json::value(json::array{"kubernetes"}));
  json::value ending = ok(send("DELETE", "/api/v1/namespaces/a"));
  EXPECT_EQ(text_at(ending, {"status", "phase"}), "Terminating");
  make_object(ending, {"spec"}).erase("finalizers");
  ok(send("PUT", "/api/v1/namespaces/a/finalize", to_json(ending)));
  EXPECT_EQ(send("GET", "/api/v1/namespaces/a").status, 404);
}

TEST_F(SubresourcesTest, tokens_of_service_accounts_are_users) {
  ok(send("POST", "/api/v1/namespaces/default/serviceaccounts", R"({"metadata":{"name":"s"}})"),
     201);
  const json::value answer =
      ok(send("POST", "/api/v1/namespaces/default/serviceaccounts/s/token", "{}"), 201);
  EXPECT_EQ(text_at(answer, {"status", "expirationTimestamp"}), "2023-11-14T23:13:20Z");
  const std::string token(text_at(answer, {"status", "token"}));

  auto who = [&] {
    net::Request request;
    request.method = "POST";
    request.path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    request.body = "{}";
    request.headers.set("Authorization", "Bearer " + token);
    net::Reply reply = run(server->handle(std::move(request)));
    return std::get<net::Response>(std::move(reply));
  };
  EXPECT_EQ(text_at(ok(who(), 201), {"status", "userInfo", "username"}),
            "system:serviceaccount:default:s");
  clock.advance(std::chrono::hours(2));
  EXPECT_EQ(who().status, 401);
}

TEST_F(SubresourcesTest, a_bound_token_dies_with_its_pod) {
  ok(send("POST", "/api/v1/namespaces/default/serviceaccounts", R"({"metadata":{"name":"s"}})"),
     201);
  ok(send("POST", kPods, to_json(simple_pod("p"))), 201);
  const json::value answer =
      ok(send("POST", "/api/v1/namespaces/default/serviceaccounts/s/token",
              R"({"spec":{"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"p"}}})"),
         201);
  const std::string review =
      to_json(json::object{{"spec", {{"token", text_at(answer, {"status", "token"})}}}});
  const char* path = "/apis/authentication.k8s.io/v1/tokenreviews";
  EXPECT_TRUE(bool_at(ok(send("POST", path, review), 201), {"status", "authenticated"}));
  ok(send("DELETE", std::string(kPods) + "/p"));
  EXPECT_FALSE(bool_at(ok(send("POST", path, review), 201), {"status", "authenticated"}));
}

// An API token that a service receives must not open another service, and the other way round.
TEST_F(SubresourcesTest, a_token_review_answers_for_its_audiences_only) {
  ok(send("POST", "/api/v1/namespaces/default/serviceaccounts", R"({"metadata":{"name":"s"}})"),
     201);
  auto issue = [&](json::array audiences) {
    const std::string asked =
        to_json(json::object{{"spec", {{"audiences", std::move(audiences)}}}});
    return std::string(
        text_at(ok(send("POST", "/api/v1/namespaces/default/serviceaccounts/s/token", asked), 201),
                {"status", "token"}));
  };
  auto review = [&](const std::string& token, json::array audiences) {
    const json::object spec{{"token", token}, {"audiences", std::move(audiences)}};
    const std::string asked = to_json(json::object{{"spec", spec}});
    return ok(send("POST", "/apis/authentication.k8s.io/v1/tokenreviews", asked), 201).at("status");
  };
  const std::string api_token = issue({}), vault_token = issue({"vault", "shop"});

  const json::value of_api = review(api_token, {});
  EXPECT_TRUE(bool_at(of_api, {"authenticated"}));
  EXPECT_EQ(list_at(of_api, {"audiences"}).size(), 1u);

  const json::value refused = review(api_token, {"vault"});
  EXPECT_FALSE(bool_at(refused, {"authenticated"}));
  EXPECT_EQ(refused.as_object().count("audiences"), 0u);
  EXPECT_THAT(std::string(text_at(refused, {"error"})),
              ::testing::HasSubstr(R"(is invalid for the target audiences ["vault"])"));
  EXPECT_FALSE(bool_at(review(vault_token, {}), {"authenticated"}));

  const json::value of_vault = review(vault_token, {"bank", "vault"});
  EXPECT_TRUE(bool_at(of_vault, {"authenticated"}));
  EXPECT_EQ(of_vault.at("audiences"), json::value(json::array{"vault"}));
}

TEST(TokenReview, takes_the_token_of_the_administrator_for_the_api_alone) {
  ApiFixture api({.admin_token = "secret"});
  auto authenticated = [&](std::string_view spec) {
    const net::Response answer = api.send("POST", "/apis/authentication.k8s.io/v1/tokenreviews",
                                          fmt::format(R"({{"spec":{}}})", spec));
    return bool_at(parsed(answer.body), {"status", "authenticated"});
  };
  EXPECT_TRUE(authenticated(R"({"token":"secret"})"));
  EXPECT_FALSE(authenticated(R"({"token":"secret","audiences":["vault"]})"));
}

TEST_F(SubresourcesTest, events_are_stored_once_and_served_in_two_forms) {
  ok(send("POST", "/apis/events.k8s.io/v1/namespaces/default/events",
          R"({"metadata":{"name":"e"},"eventTime":"2024-01-02T03:04:05.000000Z",
              "reportingController":"sched","reportingInstance":"i","action":"Binding",
              "reason":"Scheduled","note":"placed","type":"Normal",
              "regarding":{"kind":"Pod","namespace":"default","name":"p"}})"),
     201);
  const json::value core = ok(send("GET", "/api/v1/namespaces/default/events/e"));
  EXPECT_EQ(text_at(core, {"apiVersion"}), "v1");
  EXPECT_EQ(text_at(core, {"message"}), "placed");
  EXPECT_EQ(text_at(core, {"involvedObject", "name"}), "p");
  EXPECT_EQ(text_at(core, {"reportingComponent"}), "sched");
  const json::value list =
      ok(send("GET", "/apis/events.k8s.io/v1/events?fieldSelector=regarding.name%3Dp"));
  EXPECT_EQ(text_at(list.at("items").at(0), {"note"}), "placed");
  const json::value patched =
      ok(send("PATCH", "/apis/events.k8s.io/v1/namespaces/default/events/e",
              R"({"series":{"count":2,"lastObservedTime":"2024-01-02T03:05:05.000000Z"}})",
              {{"Content-Type", "application/strategic-merge-patch+json"}}));
  EXPECT_EQ(int_at(patched, {"series", "count"}), 2);
  EXPECT_EQ(text_at(patched, {"apiVersion"}), "events.k8s.io/v1");
}

TEST_F(SubresourcesTest, events_are_deleted_after_an_hour) {
  for (const char* name : {"old", "new"}) {
    ok(send("POST", "/api/v1/namespaces/default/events",
            fmt::format(R"({{"metadata":{{"name":"{}"}},"involvedObject":{{"kind":"Pod",)"
                        R"("namespace":"default","name":"p"}},"reason":"R","type":"Normal"}})",
                        name)),
       201);
    clock.advance(std::chrono::minutes(40));
  }
  EXPECT_EQ(ok(send("GET", "/api/v1/events")).at("items").as_array().size(), 1u);
  EXPECT_EQ(send("GET", "/api/v1/namespaces/default/events/old").status, 404);
  EXPECT_EQ(send("GET", "/api/v1/namespaces/default/events/new").status, 200);
}

TEST_F(SubresourcesTest, reviews_report_permissions) {
  const json::value review =
      ok(send("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
              R"({"spec":{"resourceAttributes":{"verb":"create","resource":"pods"}}})"),
         201);
  EXPECT_TRUE(bool_at(review, {"status", "allowed"}));
}

TEST_F(SubresourcesTest, anonymous_users_see_only_health) {
  auto ask = [&](std::string path, const std::string& token) {
    net::Request request;
    request.path = std::move(path);
    if (!token.empty()) request.headers.set("Authorization", "Bearer " + token);
    net::Reply reply = run(server->handle(std::move(request)));
    return std::get<net::Response>(std::move(reply));
  };
  EXPECT_EQ(ask("/healthz", "").status, 200);
  EXPECT_EQ(ask("/version", "").status, 200);
  auto refused = ask("/api/v1/namespaces/default/pods", "");
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(text_at(parsed(refused.body), {"message"}),
            "pods is forbidden: User \"system:anonymous\" cannot list resource \"pods\" in API "
            "group \"\" in the namespace \"default\"");
  EXPECT_EQ(ask("/apis", "").status, 403);
  EXPECT_EQ(ask("/api/v1/pods", "wrong").status, 401);
}

}  // namespace
}  // namespace plim::local::apiserver::testing
