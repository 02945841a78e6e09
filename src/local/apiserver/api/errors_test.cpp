// The errors that clients check, with the messages of a real server.
#include <gtest/gtest.h>

#include "kube/object.hpp"
#include "local/apiserver/testing/api_fixture.hpp"

namespace plim::local::apiserver::testing {
namespace {

class ErrorsTest : public ApiTest {
 protected:
  ErrorsTest() { EXPECT_EQ(send("POST", kPods, to_json(simple_pod("p1"))).status, 201); }

  // Checks what all errors have in common; returns the details, null for none.
  json::value refused(const net::Response& response, int code, std::string_view reason) {
    EXPECT_EQ(response.status, code) << response.body;
    EXPECT_EQ(response.headers.get("Content-Type"), "application/json");
    last = parsed(response.body);
    EXPECT_EQ(text_at(last, {"kind"}), "Status");
    EXPECT_EQ(text_at(last, {"apiVersion"}), "v1");
    EXPECT_EQ(text_at(last, {"status"}), "Failure");
    EXPECT_EQ(text_at(last, {"reason"}), reason) << response.body;
    EXPECT_EQ(int_at(last, {"code"}), code);
    const json::value* details = find(last, {"details"});
    return details ? *details : json::value();
  }

  net::Response post(json::value object) { return send("POST", kPods, to_json(object)); }

  static constexpr std::string_view kPods = "/api/v1/namespaces/default/pods";
  static constexpr std::string_view kPod = "/api/v1/namespaces/default/pods/p1";
  json::value last;
};

TEST_F(ErrorsTest, name_taken) {
  EXPECT_EQ(refused(post(simple_pod("p1")), 409, "AlreadyExists"),
            parsed(R"({"name":"p1","kind":"pods"})"));
}

TEST_F(ErrorsTest, namespace_missing) {
  auto response = send("POST", "/api/v1/namespaces/nope/pods", to_json(simple_pod("p", "nope")));
  EXPECT_EQ(refused(response, 404, "NotFound"), parsed(R"({"name":"nope","kind":"namespaces"})"));
}

TEST_F(ErrorsTest, name_missing) {
  json::value pod = simple_pod("x");
  pod.at("metadata").as_object().erase("name");
  const json::value details = refused(post(pod), 422, "Invalid");
  EXPECT_EQ(text_at(details, {"kind"}), "Pod");
  ASSERT_FALSE(details.at("causes").as_array().empty());
  EXPECT_EQ(text_at(details.at("causes").at(0), {"reason"}), "FieldValueRequired");
  EXPECT_EQ(text_at(details.at("causes").at(0), {"field"}), "metadata.name");
}

TEST_F(ErrorsTest, another_kind) {
  auto response = send("POST", kPods, R"({"kind":"Service","apiVersion":"v1"})");
  EXPECT_EQ(refused(response, 400, "BadRequest"), json::value());
  EXPECT_EQ(text_at(last, {"message"}),
            "Service in version \"v1\" cannot be handled as a Pod: converting (v1.Service) to "
            "(core.Pod): unknown conversion");
  refused(send("POST", kPods, R"({"kind":"Pod","apiVersion":"apps/v1"})"), 400, "BadRequest");
  EXPECT_EQ(text_at(last, {"message"}),
            "Pod in version \"v1\" cannot be handled as a Pod: no kind \"Pod\" is registered for "
            "version \"apps/v1\"");
}

TEST_F(ErrorsTest, broken_json) {
  EXPECT_EQ(refused(send("POST", kPods, "{bad"), 400, "BadRequest"), json::value());
  EXPECT_EQ(refused(send("POST", kPods, "\xff\xfe"), 400, "BadRequest"), json::value());
  EXPECT_EQ(refused(send("POST", kPods, "[]"), 400, "BadRequest"), json::value());
}

TEST_F(ErrorsTest, unknown_media_types) {
  auto response = send("POST", kPods, "{}", {{"Content-Type", "application/foo"}});
  EXPECT_EQ(refused(response, 415, "UnsupportedMediaType"), json::value());
  EXPECT_EQ(refused(send("GET", kPods, "", {{"Accept", "application/foo"}}), 406, "NotAcceptable"),
            json::value(json::object()));
  response = send("PATCH", kPod, "{}", {{"Content-Type", "application/json"}});
  EXPECT_EQ(refused(response, 415, "UnsupportedMediaType"), json::value(json::object()));
}

TEST_F(ErrorsTest, puts_that_conflict) {
  json::value pod = parsed(send("GET", kPod).body);
  json::value other = pod;
  other.at("metadata").as_object()["name"] = "p2";
  refused(send("PUT", kPod, to_json(other)), 400, "BadRequest");
  other = pod;
  other.at("metadata").as_object()["resourceVersion"] = "1";
  EXPECT_EQ(refused(send("PUT", kPod, to_json(other)), 409, "Conflict"),
            parsed(R"({"name":"p1","kind":"pods"})"));
  EXPECT_EQ(text_at(last, {"message"}),
            "Operation cannot be fulfilled on pods \"p1\": the object has been modified; please "
            "apply your changes to the latest version and try again");
  other = pod;
  other.at("spec").at("containers").at(0).as_object()["name"] = "renamed";
  const json::value details = refused(send("PUT", kPod, to_json(other)), 422, "Invalid");
  EXPECT_EQ(text_at(details, {"kind"}), "Pod");
  EXPECT_EQ(text_at(details.at("causes").at(0), {"reason"}), "FieldValueForbidden");
  EXPECT_EQ(text_at(details.at("causes").at(0), {"field"}), "spec");
  other = pod;
  other.at("metadata").as_object()["uid"] = "another";
  refused(send("PUT", kPod, to_json(other)), 409, "Conflict");
  refused(send("PUT", "/api/v1/namespaces/default/pods/p2", to_json(simple_pod("p2"))), 404,
          "NotFound");
}

TEST_F(ErrorsTest, delete_with_a_wrong_uid) {
  auto response = send("DELETE", kPod, R"({"preconditions":{"uid":"wrong"}})");
  EXPECT_EQ(refused(response, 409, "Conflict"), parsed(R"({"name":"p1","kind":"Pod"})"));
}

TEST_F(ErrorsTest, delete_of_a_protected_namespace) {
  EXPECT_EQ(refused(send("DELETE", "/api/v1/namespaces/default"), 403, "Forbidden"),
            parsed(R"({"name":"default","kind":"namespaces"})"));
}

TEST_F(ErrorsTest, second_binding) {
  const std::string binding = R"({"target":{"kind":"Node","name":"n1"}})";
  auto first = send("POST", std::string(kPod) + "/binding", binding);
  EXPECT_EQ(first.status, 201) << first.body;
  EXPECT_EQ(text_at(parsed(first.body), {"status"}), "Success");
  EXPECT_EQ(refused(send("POST", std::string(kPod) + "/binding", binding), 409, "Conflict"),
            parsed(R"({"name":"p1","kind":"pods/binding"})"));
}

TEST_F(ErrorsTest, apply_without_a_manager) {
  auto response = send("PATCH", kPod, R"({"kind":"Pod","apiVersion":"v1"})",
                       {{"Content-Type", "application/apply-patch+yaml"}});
  const json::value details = refused(response, 422, "Invalid");
  EXPECT_EQ(text_at(details, {"group"}), "meta.k8s.io");
  EXPECT_EQ(text_at(details, {"kind"}), "PatchOptions");
}

TEST_F(ErrorsTest, methods_that_are_not_allowed) {
  EXPECT_EQ(refused(send("OPTIONS", kPods), 405, "MethodNotAllowed"), json::value(json::object()));
  refused(send("PUT", kPods, "{}"), 405, "MethodNotAllowed");
  refused(send("DELETE", "/api/v1/namespaces"), 405, "MethodNotAllowed");
  refused(send("DELETE", "/api/v1/pods"), 405, "MethodNotAllowed");
  refused(send("PUT", std::string(kPod) + "/ephemeralcontainers", "{}"), 405, "MethodNotAllowed");
}

TEST_F(ErrorsTest, names_that_differ_from_the_path) {
  refused(send("PUT", kPod, R"({"spec":{}})"), 400, "BadRequest");
  const std::string_view other = R"({"metadata":{"name":"other"},"target":{"name":"n"}})";
  refused(send("POST", std::string(kPod) + "/binding", std::string(other)), 400, "BadRequest");
  refused(send("POST", std::string(kPod) + "/eviction", R"({"metadata":{"name":"other"}})"), 400,
          "BadRequest");
}

TEST_F(ErrorsTest, paths_that_name_nothing) {
  refused(send("GET", "/api/v1/nonsense"), 404, "NotFound");
  refused(send("GET", "/api/v1/pods/p1"), 404, "NotFound");
  EXPECT_EQ(send("GET", "/apis/nope.io/v1/things").body, "404 page not found\n");
  refused(send("GET", "/apis/apps/v9/deployments"), 404, "NotFound");
  for (const char* path : {"/api/v1//pods", "/api/v1/namespaces/../pods",
                           "/api/v1/namespaces/a%2fb/pods", "/api/v1/namespaces/%00/pods"})
    EXPECT_EQ(send("GET", path).status, 400) << path;
}

TEST_F(ErrorsTest, invalid_selectors_and_numbers) {
  for (const char* query : {"labelSelector=a%3D%3D%3D", "fieldSelector=spec.foo%3Dx",
                            "resourceVersion=x", "limit=x", "continue=x"})
    refused(send("GET", fmt::format("{}?{}", kPods, query)), 400, "BadRequest");
  refused(send("GET", fmt::format("{}?fieldSelector=spec.foo%3Dx", kPods)), 400, "BadRequest");
  EXPECT_EQ(text_at(last, {"message"}), "field label not supported: spec.foo");
  refused(send("POST", fmt::format("{}?dryRun=Some", kPods), to_json(simple_pod("q"))), 422,
          "Invalid");
}

TEST_F(ErrorsTest, patches_that_change_the_identity_of_an_object) {
  auto patch = [&](std::string body) {
    return send("PATCH", kPod, std::move(body), {{"Content-Type", "application/merge-patch+json"}});
  };
  const json::value details = refused(patch(R"({"metadata":{"uid":"another"}})"), 422, "Invalid");
  EXPECT_EQ(text_at(details.at("causes").at(0), {"field"}), "metadata.uid");
  refused(patch(R"({"metadata":{"namespace":"other"}})"), 400, "BadRequest");
}

TEST_F(ErrorsTest, json_patches_that_do_not_apply) {
  auto response = send("PATCH", kPod, R"([{"op":"remove","path":"/spec/nope"}])",
                       {{"Content-Type", "application/json-patch+json"}});
  EXPECT_EQ(refused(response, 422, "Invalid"), json::value(json::object()));
  EXPECT_EQ(text_at(last, {"message"}),
            "the server rejected our request due to an error in our request");
}

TEST_F(ErrorsTest, managers_with_long_names) {
  const std::string path = fmt::format("{}?fieldManager={}", kPods, std::string(129, 'm'));
  const json::value details = refused(send("POST", path, to_json(simple_pod("q"))), 422, "Invalid");
  EXPECT_EQ(text_at(details.at("causes").at(0), {"reason"}), "FieldValueTooLong");
}

TEST_F(ErrorsTest, logs_with_negative_limits) {
  for (const char* query : {"tailLines=-1", "limitBytes=0", "sinceSeconds=0",
                            "sinceSeconds=1&sinceTime=2024-01-01T00:00:00Z"})
    refused(send("GET", fmt::format("{}/log?{}", kPod, query)), 422, "Invalid");
  EXPECT_EQ(text_at(last, {"details", "kind"}), "PodLogOptions");
}

TEST_F(ErrorsTest, empty_reviews) {
  refused(send("POST", "/apis/authentication.k8s.io/v1/tokenreviews", "{}"), 400, "BadRequest");
  const std::string path = "/apis/authorization.k8s.io/v1/";
  refused(send("POST", path + "selfsubjectrulesreviews", "{}"), 400, "BadRequest");
  refused(send("POST", path + "selfsubjectaccessreviews", "{}"), 422, "Invalid");
}

TEST_F(ErrorsTest, unknown_fields_warn_or_are_rejected) {
  json::value pod = simple_pod("p2");
  pod.at("spec").as_object()["foo"] = 1;
  auto warned = post(pod);
  EXPECT_EQ(warned.status, 201) << warned.body;
  EXPECT_EQ(warned.headers.get("Warning"), R"(299 - "unknown field \"spec.foo\"")");
  EXPECT_FALSE(find(parsed(warned.body), {"spec", "foo"}));
  pod.at("metadata").as_object()["name"] = "p3";
  refused(send("POST", fmt::format("{}?fieldValidation=Strict", kPods), to_json(pod)), 400,
          "BadRequest");
  EXPECT_NE(text_at(last, {"message"}).find(R"(strict decoding error: unknown field "spec.foo")"),
            std::string_view::npos);
  EXPECT_FALSE(send("POST", fmt::format("{}?fieldValidation=Ignore", kPods), to_json(pod))
                   .headers.has("Warning"));
}

TEST_F(ErrorsTest, nothing_is_created_in_a_terminating_namespace) {
  ASSERT_EQ(send("POST", "/api/v1/namespaces", R"({"metadata":{"name":"a"}})").status, 201);
  ASSERT_EQ(send("DELETE", "/api/v1/namespaces/a").status, 200);
  auto response = send("POST", "/api/v1/namespaces/a/pods", to_json(simple_pod("p", "a")));
  const json::value details = refused(response, 403, "Forbidden");
  EXPECT_EQ(text_at(details.at("causes").at(0), {"reason"}), "NamespaceTerminating");
}

}  // namespace
}  // namespace plim::local::apiserver::testing
