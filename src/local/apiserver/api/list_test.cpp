#include <set>

#include <gtest/gtest.h>

#include "kube/object.hpp"
#include "local/apiserver/testing/api_fixture.hpp"

namespace plim::local::apiserver::testing {
namespace {

class ListTest : public ApiTest {
 protected:
  void create(int from, int to) {
    for (int i = from; i < to; ++i)
      ASSERT_EQ(send("POST", kMaps, fmt::format(R"({{"metadata":{{"name":"m{:03}"}}}})", i)).status,
                201);
  }

  json::value list(std::string_view query) {
    auto response = send("GET", fmt::format("{}?{}", kMaps, query));
    EXPECT_EQ(response.status, 200) << response.body;
    return parsed(response.body);
  }

  static std::vector<std::string> names(const json::value& list) {
    std::vector<std::string> out;
    for (const json::value& item : list.at("items").as_array())
      out.emplace_back(kube::name_of(item));
    return out;
  }

  int status_of(std::string_view query) {
    return send("GET", fmt::format("{}?{}", kMaps, query)).status;
  }

  std::string revision() const { return std::to_string(store->view().revision()); }

  static constexpr std::string_view kMaps = "/api/v1/namespaces/default/configmaps";
};

TEST_F(ListTest, pages_show_one_revision_each_object_once) {
  create(0, 10);
  const json::value first = list("limit=4");
  EXPECT_EQ(names(first).size(), 4u);
  EXPECT_EQ(int_at(first, {"metadata", "remainingItemCount"}), 6);
  create(10, 20);
  send("DELETE", std::string(kMaps) + "/m005");
  std::vector<std::string> all = names(first);
  std::string token(text_at(first, {"metadata", "continue"}));
  while (!token.empty()) {
    const json::value page = list("limit=4&continue=" + net::percent_encode(token));
    EXPECT_EQ(text_at(page, {"metadata", "resourceVersion"}),
              text_at(first, {"metadata", "resourceVersion"}));
    for (const std::string& name : names(page)) all.push_back(name);
    token = text_at(page, {"metadata", "continue"});
  }
  EXPECT_EQ(all.size(), 10u);
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 10u);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
}

TEST_F(ListTest, pages_with_a_selector_have_no_remaining_count) {
  create(0, 6);
  const json::value page = list("limit=2&fieldSelector=metadata.name!%3Dm000");
  EXPECT_EQ(names(page), (std::vector<std::string>{"m001", "m002"}));
  EXPECT_FALSE(find(page, {"metadata", "remainingItemCount"}));
  const std::string token(text_at(page, {"metadata", "continue"}));
  EXPECT_EQ(
      names(list("fieldSelector=metadata.name!%3Dm000&continue=" + net::percent_encode(token))),
      (std::vector<std::string>{"m003", "m004", "m005"}));
}

TEST_F(ListTest, revision_zero_ignores_the_limit) {
  create(0, 5);
  EXPECT_EQ(names(list("limit=2&resourceVersion=0")).size(), 5u);
}

TEST_F(ListTest, an_exact_revision_shows_the_past) {
  create(0, 2);
  const std::string then = revision();
  create(2, 4);
  EXPECT_EQ(names(list("resourceVersionMatch=Exact&resourceVersion=" + then)).size(), 2u);
  EXPECT_EQ(names(list("resourceVersionMatch=NotOlderThan&resourceVersion=" + then)).size(), 4u);
}

TEST_F(ListTest, combinations_that_upstream_rejects) {
  EXPECT_EQ(status_of("resourceVersionMatch=Exact"), 422);
  EXPECT_EQ(status_of("resourceVersionMatch=Exact&resourceVersion=0"), 422);
  EXPECT_EQ(status_of("resourceVersionMatch=Nonsense&resourceVersion=1"), 422);
  EXPECT_EQ(status_of("sendInitialEvents=true"), 422);
  EXPECT_EQ(status_of("watch=true&sendInitialEvents=true"), 422);
  EXPECT_EQ(status_of("watch=true&resourceVersionMatch=NotOlderThan&resourceVersion=1"), 422);
}

TEST_F(ListTest, a_revision_in_the_future_times_out) {
  net::Request request;
  request.path = kMaps;
  request.query = "resourceVersion=1000000";
  request.peer.certificate_user = "admin";
  TaskGroup time(loop.executor());
  auto fly = [](FakeClock& fake) -> Task<void> {
    for (;;) {
      fake.advance_to_next();
      co_await yield_to_loop();
    }
  };
  time.spawn("time", fly(clock));
  net::Reply reply = run(server->handle(std::move(request)));
  run_to_end(loop, time.stop());
  const auto& response = std::get<net::Response>(reply);
  EXPECT_EQ(response.status, 504);
  EXPECT_EQ(response.headers.get("Retry-After"), "1");
  const json::value status = parsed(response.body);
  EXPECT_EQ(text_at(status, {"reason"}), "Timeout");
  EXPECT_EQ(text_at(status.at("details").at("causes").at(0), {"reason"}),
            "ResourceVersionTooLarge");
}

TEST_F(ListTest, selects_by_labels_and_fields) {
  for (const char* name : {"a", "b", "c"}) {
    json::value pod = simple_pod(name);
    make_object(pod, {"metadata", "labels"})["app"] = name;
    if (*name != 'a') make_object(pod, {"spec"})["nodeName"] = "n1";
    ASSERT_EQ(send("POST", "/api/v1/namespaces/default/pods", to_json(pod)).status, 201);
  }
  auto pods = [&](std::string_view query) {
    return names(parsed(send("GET", fmt::format("/api/v1/pods?{}", query)).body));
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(pods("labelSelector=app+in+(a,c)"), (Names{"a", "c"}));
  EXPECT_EQ(pods("labelSelector=app!%3Da"), (Names{"b", "c"}));
  EXPECT_EQ(pods("fieldSelector=spec.nodeName%3Dn1"), (Names{"b", "c"}));
  EXPECT_EQ(pods("fieldSelector=spec.nodeName%3D"), (Names{"a"}));
  EXPECT_EQ(pods("fieldSelector=spec.nodeName%3Dn1,status.phase!%3DFailed&labelSelector=app%3Dc"),
            (Names{"c"}));
  EXPECT_EQ(pods("fieldSelector=metadata.name%3Db,metadata.namespace%3Ddefault"), (Names{"b"}));
  EXPECT_EQ(pods("fieldSelector=metadata.name%3Db,metadata.namespace%3Dother"), (Names{}));
  EXPECT_EQ(pods("fieldSelector=spec.hostNetwork%3Dfalse").size(), 3u);
}

TEST_F(ListTest, tables_metadata_and_yaml) {
  ASSERT_EQ(send("POST", "/api/v1/namespaces/default/pods", to_json(simple_pod("a"))).status, 201);
  constexpr auto kTable =
      "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;"
      "g=meta.k8s.io,application/json";
  const json::value table =
      parsed(send("GET", "/api/v1/namespaces/default/pods", "", {{"Accept", kTable}}).body);
  EXPECT_EQ(text_at(table, {"kind"}), "Table");
  EXPECT_EQ(text_at(table, {"apiVersion"}), "meta.k8s.io/v1");
  EXPECT_EQ(text_at(table.at("columnDefinitions").at(0), {"name"}), "Name");
  EXPECT_EQ(table.at("rows").at(0).at("cells").at(0), "a");
  EXPECT_EQ(text_at(table.at("rows").at(0), {"object", "kind"}), "PartialObjectMetadata");
  EXPECT_EQ(text_at(table, {"metadata", "resourceVersion"}), revision());

  constexpr auto kMetadata =
      "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,"
      "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
  const json::value metadata =
      parsed(send("GET", "/api/v1/namespaces/default/pods", "", {{"Accept", kMetadata}}).body);
  EXPECT_EQ(text_at(metadata, {"kind"}), "PartialObjectMetadataList");
  EXPECT_FALSE(metadata.at("items").at(0).as_object().contains("spec"));

  auto yaml =
      send("GET", "/api/v1/namespaces/default/pods/a", "", {{"Accept", "application/yaml"}});
  EXPECT_EQ(yaml.headers.get("Content-Type"), "application/yaml");
  EXPECT_NE(yaml.body.find("kind: Pod\n"), std::string::npos);
  auto wild = send("GET", "/api/v1/namespaces/default/pods/a", "",
                   {{"Accept", "application/vnd.kubernetes.protobuf, */*"}});
  EXPECT_EQ(wild.headers.get("Content-Type"), "application/json");
}

}  // namespace
}  // namespace plim::local::apiserver::testing
