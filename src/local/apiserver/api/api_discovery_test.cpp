#include <algorithm>

#include <gtest/gtest.h>

#include "local/apiserver/api/kinds.hpp"
#include "local/apiserver/testing/api_fixture.hpp"

namespace plim::local::apiserver::testing {
namespace {

class DiscoveryTest : public ApiTest {
 protected:
  json::value get(std::string_view path, net::Headers headers = {}) {
    auto response = send("GET", path, "", std::move(headers));
    EXPECT_EQ(response.status, 200) << path;
    return parsed(response.body);
  }

  static json::value named(const json::value& list, std::string_view key, std::string_view name) {
    for (const json::value& one : list.as_array())
      if (text_at(one, {key}) == name) return one;
    return nullptr;
  }
};

TEST_F(DiscoveryTest, serves_groups_and_resources_to_old_clients) {
  EXPECT_EQ(get("/api").at("versions"), json::value(json::array{"v1"}));
  const json::value groups = get("/apis").at("groups");
  EXPECT_EQ(text_at(named(groups, "name", "apps"), {"preferredVersion", "groupVersion"}),
            "apps/v1");
  EXPECT_TRUE(named(groups, "name", "metrics.k8s.io").is_object());
  const json::value core = get("/api/v1").at("resources");
  const json::value pods = named(core, "name", "pods");
  EXPECT_EQ(pods.at("shortNames"), json::value(json::array{"po"}));
  EXPECT_EQ(pods.at("categories"), json::value(json::array{"all"}));
  EXPECT_EQ(text_at(pods, {"singularName"}), "pod");
  // `kubectl drain` checks this one before it evicts.
  const json::value eviction = named(core, "name", "pods/eviction");
  EXPECT_EQ(text_at(eviction, {"group"}), "policy");
  EXPECT_EQ(text_at(eviction, {"version"}), "v1");
  EXPECT_EQ(text_at(eviction, {"kind"}), "Eviction");
  const json::value apps = get("/apis/apps/v1").at("resources");
  EXPECT_EQ(text_at(named(apps, "name", "deployments/scale"), {"group"}), "autoscaling");
  EXPECT_EQ(text_at(get("/apis/batch"), {"kind"}), "APIGroup");
}

TEST_F(DiscoveryTest, serves_everything_at_once_to_newer_clients) {
  constexpr auto kAccept =
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
      "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
  auto response = send("GET", "/apis", "", {{"Accept", kAccept}});
  EXPECT_EQ(response.headers.get("Content-Type"),
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  const json::value all = parsed(response.body);
  EXPECT_EQ(text_at(all, {"apiVersion"}), "apidiscovery.k8s.io/v2");
  EXPECT_GT(all.at("items").as_array().size(), 15u);
  const json::value core = get("/api", {{"Accept", kAccept}});
  const json::value& resources = core.at("items").at(0).at("versions").at(0).at("resources");
  const json::value pods = named(resources, "resource", "pods");
  EXPECT_EQ(text_at(pods, {"scope"}), "Namespaced");
  EXPECT_EQ(
      text_at(named(pods.at("subresources"), "subresource", "eviction"), {"responseKind", "kind"}),
      "Eviction");
}

TEST_F(DiscoveryTest, unchanged_documents_are_not_sent_again) {
  auto first = send("GET", "/apis");
  const std::string etag(first.headers.get("ETag"));
  ASSERT_FALSE(etag.empty());
  auto again = send("GET", "/apis", "", {{"If-None-Match", etag}});
  EXPECT_EQ(again.status, 304);
  EXPECT_TRUE(again.body.empty());
  Kind kind;
  kind.group = "example.com";
  kind.version = "v1";
  kind.plural = "widgets";
  kind.kind = "Widget";
  kind.verbs = {"get", "list"};
  server->kinds().add(std::move(kind));
  EXPECT_EQ(send("GET", "/apis", "", {{"If-None-Match", etag}}).status, 200);
  EXPECT_EQ(get("/apis/example.com/v1").at("resources").as_array().size(), 1u);
}

TEST_F(DiscoveryTest, serves_the_kinds_that_the_stock_scheduler_lists) {
  for (const char* path :
       {"/api/v1/pods", "/api/v1/nodes", "/api/v1/namespaces", "/api/v1/services",
        "/api/v1/replicationcontrollers", "/api/v1/persistentvolumes",
        "/api/v1/persistentvolumeclaims", "/apis/apps/v1/replicasets", "/apis/apps/v1/statefulsets",
        "/apis/policy/v1/poddisruptionbudgets", "/apis/storage.k8s.io/v1/csinodes",
        "/apis/storage.k8s.io/v1/csidrivers", "/apis/storage.k8s.io/v1/csistoragecapacities",
        "/apis/storage.k8s.io/v1/storageclasses", "/apis/storage.k8s.io/v1/volumeattachments",
        "/apis/resource.k8s.io/v1/resourceclaims", "/apis/resource.k8s.io/v1/resourceslices",
        "/apis/resource.k8s.io/v1/deviceclasses", "/apis/resource.k8s.io/v1/devicetaintrules"})
    EXPECT_EQ(send("GET", fmt::format("{}?limit=500&resourceVersion=0", path)).status, 200) << path;
}

TEST_F(DiscoveryTest, every_kind_has_a_type_and_an_empty_list) {
  for (const KindPtr& kind : server->kinds().all()) {
    if (!kind->has_verb("list")) continue;
    const std::string path = kind->group.empty() ? fmt::format("/api/v1/{}", kind->plural)
                                                 : fmt::format("/apis/{}/{}/{}", kind->group,
                                                               kind->version, kind->plural);
    const json::value list = get(path);
    EXPECT_EQ(text_at(list, {"kind"}), kind->list_kind);
    EXPECT_TRUE(list.at("items").is_array());
    if (kind->group != "metrics.k8s.io") {
      EXPECT_NE(kind->type, nullptr) << kind->qualified;
    }
  }
}

TEST_F(DiscoveryTest, openapi_says_which_fields_there_are) {
  auto v2 = send("GET", "/openapi/v2");
  for (const char* word : {"/apis/apps/v1/namespaces/{namespace}/deployments/{name}", "dryRun",
                           "#/definitions/io.k8s.PodSpec", "terminationGracePeriodSeconds"})
    EXPECT_NE(v2.body.find(word), std::string::npos) << word;
  EXPECT_EQ(v2.headers.get("Content-Type"),
            "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
  const json::value index = get("/openapi/v3");
  const std::string url(text_at(index, {"paths", "apis/apps/v1", "serverRelativeURL"}));
  EXPECT_TRUE(url.starts_with("/openapi/v3/apis/apps/v1?hash="));
  const json::value document = get(url);
  const json::value* patch =
      find(document, {"paths", "/apis/apps/v1/namespaces/{namespace}/deployments/{name}", "patch"});
  ASSERT_TRUE(patch);
  EXPECT_EQ(text_at(*patch, {"x-kubernetes-group-version-kind", "kind"}), "Deployment");
  EXPECT_TRUE(named(patch->at("parameters"), "name", "fieldValidation").is_object());
  const json::value* kind = find(document, {"components", "schemas", "io.k8s.apps.v1.Deployment"});
  ASSERT_TRUE(kind);
  EXPECT_EQ(text_at(*kind, {"properties", "spec", "$ref"}),
            "#/components/schemas/io.k8s.DeploymentSpec");
  EXPECT_EQ(text_at(document, {"components", "schemas", "io.k8s.DeploymentSpec", "properties",
                               "replicas", "format"}),
            "int32");
}

TEST_F(DiscoveryTest, health_version_and_metrics) {
  for (const char* path : {"/healthz", "/livez", "/readyz", "/readyz/ping"})
    EXPECT_EQ(send("GET", path).body, "ok");
  EXPECT_TRUE(send("GET", "/readyz?verbose").body.ends_with("readyz check passed\n"));
  EXPECT_TRUE(text_at(get("/version/"), {"gitVersion"}).starts_with("v1.37.0+plimsoll."));
  EXPECT_NE(send("GET", "/metrics").body.find("plimsoll_store_objects"), std::string::npos);
  EXPECT_EQ(send("GET", "/nonsense").status, 404);
}

}  // namespace
}  // namespace plim::local::apiserver::testing
