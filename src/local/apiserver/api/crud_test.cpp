#include <gtest/gtest.h>

#include "kube/object.hpp"
#include "local/apiserver/testing/api_fixture.hpp"

namespace plim::local::apiserver::testing {
namespace {

namespace res = kube::resources;

class CrudTest : public ApiTest {
 protected:
  json::value create_pod(std::string_view name) {
    auto made = run(client->create(res::pods, {"default", ""}, simple_pod(name)));
    PLIM_ASSERT(made);
    return std::move(*made);
  }

  json::value failed(const net::Response& response) {
    json::value out = parsed(response.body);
    EXPECT_EQ(text_at(out, {"kind"}), "Status");
    EXPECT_EQ(int_at(out, {"code"}), response.status);
    return out;
  }
};

TEST_F(CrudTest, creates_and_gets_an_object) {
  const json::value made = create_pod("a");
  EXPECT_EQ(text_at(made, {"kind"}), "Pod");
  EXPECT_EQ(text_at(made, {"apiVersion"}), "v1");
  EXPECT_EQ(kube::uid_of(made).size(), 36u);
  EXPECT_EQ(text_at(made, {"metadata", "creationTimestamp"}), "2023-11-14T22:13:20Z");
  EXPECT_EQ(kube::resource_version_of(made), std::to_string(store->view().revision()));
  EXPECT_EQ(int_at(made, {"metadata", "generation"}), 1);
  auto got = run(client->get(res::pods, {"default", "a"}));
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(*got, made);
}

TEST_F(CrudTest, generates_names) {
  json::value pod = simple_pod("");
  pod.at("metadata").as_object().erase("name");
  pod.at("metadata").as_object()["generateName"] = "web-";
  auto made = run(client->create(res::pods, {"default", ""}, pod));
  ASSERT_TRUE(made);
  EXPECT_TRUE(kube::name_of(*made).starts_with("web-"));
  EXPECT_EQ(kube::name_of(*made).size(), 9u);
}

TEST_F(CrudTest, lists_items_without_their_kind) {
  create_pod("b");
  create_pod("a");
  const json::value list = parsed(send("GET", "/api/v1/namespaces/default/pods").body);
  EXPECT_EQ(text_at(list, {"kind"}), "PodList");
  const json::array& items = list.at("items").as_array();
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(kube::name_of(items[0]), "a");
  EXPECT_FALSE(items[0].as_object().contains("kind"));
  EXPECT_EQ(text_at(list, {"metadata", "resourceVersion"}),
            std::to_string(store->view().revision()));
  EXPECT_EQ(parsed(send("GET", "/api/v1/namespaces/kube-system/pods").body).at("items"),
            json::value(json::array()));
}

TEST_F(CrudTest, updates_an_object) {
  json::value pod = create_pod("a");
  pod.at("metadata").as_object()["labels"] = json::object{{"app", "web"}};
  auto updated = run(client->update(res::pods, {"default", "a"}, pod));
  ASSERT_TRUE(updated) << updated.error().message;
  EXPECT_NE(kube::resource_version_of(*updated), kube::resource_version_of(pod));
  EXPECT_EQ(kube::label_of(*updated, "app"), "web");
}

TEST_F(CrudTest, a_stale_write_conflicts) {
  json::value pod = create_pod("a");
  json::value other = pod;
  pod.at("metadata").as_object()["labels"] = json::object{{"app", "web"}};
  ASSERT_TRUE(run(client->update(res::pods, {"default", "a"}, pod)));
  other.at("metadata").as_object()["labels"] = json::object{{"app", "db"}};
  auto stale = run(client->update(res::pods, {"default", "a"}, other));
  ASSERT_FALSE(stale);
  EXPECT_EQ(stale.error().code, Code::conflict);
}

TEST_F(CrudTest, a_write_without_change_writes_nothing) {
  json::value pod = create_pod("a");
  const store::Revision before = store->view().revision();
  auto updated = run(client->update(res::pods, {"default", "a"}, pod));
  ASSERT_TRUE(updated);
  EXPECT_EQ(*updated, pod);
  EXPECT_EQ(store->view().revision(), before);
}

TEST_F(CrudTest, status_and_spec_are_written_separately) {
  json::value pod = create_pod("a");
  make_object(pod, {"status"})["phase"] = "Running";
  make_object(pod, {"spec"})["activeDeadlineSeconds"] = 7;
  auto main = run(client->update(res::pods, {"default", "a"}, pod));
  ASSERT_TRUE(main);
  EXPECT_NE(text_at(*main, {"status", "phase"}), "Running");
  EXPECT_EQ(int_at(*main, {"metadata", "generation"}), 2);
  make_object(*main, {"status"})["phase"] = "Running";
  make_object(*main, {"spec"})["activeDeadlineSeconds"] = 6;
  auto status = run(client->update(res::pods, {"default", "a", "status"}, *main));
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(text_at(*status, {"status", "phase"}), "Running");
  EXPECT_EQ(int_at(*status, {"spec", "activeDeadlineSeconds"}), 7);
  EXPECT_EQ(int_at(*status, {"metadata", "generation"}), 2);
}

TEST_F(CrudTest, reports_missing_and_existing_objects) {
  create_pod("p1");
  const json::value taken =
      failed(send("POST", "/api/v1/namespaces/default/pods", to_json(simple_pod("p1"))));
  EXPECT_EQ(text_at(taken, {"reason"}), "AlreadyExists");
  EXPECT_EQ(text_at(taken, {"message"}), R"(pods "p1" already exists)");
  EXPECT_EQ(taken.at("details"), parsed(R"({"name":"p1","kind":"pods"})"));
  const json::value missing =
      failed(send("POST", "/api/v1/namespaces/nope/pods", to_json(simple_pod("p", "nope"))));
  EXPECT_EQ(missing.at("details"), parsed(R"({"name":"nope","kind":"namespaces"})"));
  const json::value none = failed(send("GET", "/apis/apps/v1/namespaces/default/deployments/x"));
  EXPECT_EQ(text_at(none, {"message"}), R"(deployments.apps "x" not found)");
  EXPECT_EQ(none.at("details"), parsed(R"({"name":"x","group":"apps","kind":"deployments"})"));
}

TEST_F(CrudTest, deletes_objects_without_finalizers_at_once) {
  auto made = run(client->create(res::config_maps, {"default", ""},
                                 parsed(R"({"metadata":{"name":"c"},"data":{"a":"b"}})")));
  ASSERT_TRUE(made);
  auto deleted = run(client->remove(res::config_maps, {"default", "c"}));
  ASSERT_TRUE(deleted);
  EXPECT_EQ(text_at(*deleted, {"status"}), "Success");
  EXPECT_EQ(text_at(*deleted, {"details", "uid"}), kube::uid_of(*made));
  EXPECT_EQ(run(client->get(res::config_maps, {"default", "c"})).error().code, Code::not_found);
}

TEST_F(CrudTest, finalizers_hold_an_object) {
  auto made = run(client->create(
      res::config_maps, {"default", ""},
      parsed(R"({"metadata":{"name":"c","finalizers":["x.io/y"]},"data":{"a":"b"}})")));
  ASSERT_TRUE(made);
  ASSERT_TRUE(run(client->remove(res::config_maps, {"default", "c"})));
  auto held = run(client->get(res::config_maps, {"default", "c"}));
  ASSERT_TRUE(held);
  EXPECT_TRUE(kube::is_being_deleted(*held));
  make_object(*held, {"metadata"}).erase("finalizers");
  ASSERT_TRUE(run(client->update(res::config_maps, {"default", "c"}, *held)));
  EXPECT_FALSE(run(client->get(res::config_maps, {"default", "c"})));
}

TEST_F(CrudTest, a_scheduled_pod_ends_with_grace) {
  json::value pod = simple_pod("a");
  make_object(pod, {"spec"})["nodeName"] = "n1";
  ASSERT_TRUE(run(client->create(res::pods, {"default", ""}, pod)));
  auto first = run(client->remove(res::pods, {"default", "a"}));
  ASSERT_TRUE(first);
  EXPECT_EQ(int_at(*first, {"metadata", "deletionGracePeriodSeconds"}), 30);
  EXPECT_EQ(text_at(*first, {"metadata", "deletionTimestamp"}), "2023-11-14T22:13:50Z");
  kube::DeleteOptions now{.grace_seconds = 0, .uid = std::string(kube::uid_of(*first))};
  ASSERT_TRUE(run(client->remove(res::pods, {"default", "a"}, now)));
  EXPECT_FALSE(run(client->get(res::pods, {"default", "a"})));
}

TEST_F(CrudTest, deletes_a_collection) {
  create_pod("a");
  create_pod("b");
  auto deleted = run(client->remove_collection(res::pods, {.ns = "default"}));
  ASSERT_TRUE(deleted);
  EXPECT_EQ(deleted->at("items").as_array().size(), 2u);
  auto left = run(client->list(res::pods, {.ns = "default"}));
  EXPECT_TRUE(left->at("items").as_array().empty());
}

}  // namespace
}  // namespace plim::local::apiserver::testing
