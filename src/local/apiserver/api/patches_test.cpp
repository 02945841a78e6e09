#include <gtest/gtest.h>

#include "kube/object.hpp"
#include "local/apiserver/testing/api_fixture.hpp"

namespace plim::local::apiserver::testing {
namespace {

namespace res = kube::resources;
using kube::PatchType;

class PatchesTest : public ApiTest {
 protected:
  PatchesTest() {
    EXPECT_EQ(send("POST", "/api/v1/namespaces/default/pods", to_json(simple_pod("p"))).status,
              201);
  }

  Result<json::value> patch(PatchType type, std::string_view body,
                            kube::WriteOptions options = {}) {
    return run(client->patch(res::pods, {"default", "p"}, type, parsed(body), options));
  }
};

TEST_F(PatchesTest, merge_json_and_strategic) {
  auto merged = patch(PatchType::merge, R"({"metadata":{"labels":{"a":"b"}}})");
  ASSERT_TRUE(merged) << merged.error().message;
  EXPECT_EQ(kube::label_of(*merged, "a"), "b");
  auto edited = patch(PatchType::json, R"([{"op":"add","path":"/metadata/labels/c","value":"d"}])");
  ASSERT_TRUE(edited) << edited.error().message;
  EXPECT_EQ(kube::label_of(*edited, "c"), "d");
  auto image =
      patch(PatchType::strategic, R"({"spec":{"containers":[{"name":"c","image":"app:2"}]}})");
  ASSERT_TRUE(image) << image.error().message;
  const json::array& containers = image->at("spec").at("containers").as_array();
  ASSERT_EQ(containers.size(), 1u);
  EXPECT_EQ(text_at(containers[0], {"image"}), "app:2");
  EXPECT_FALSE(containers[0].at("volumeMounts").as_array().empty());
  EXPECT_EQ(int_at(*image, {"metadata", "generation"}), 2);
}

TEST_F(PatchesTest, a_patch_that_changes_nothing_writes_nothing) {
  const store::Revision before = store->view().revision();
  ASSERT_TRUE(patch(PatchType::merge, "{}"));
  ASSERT_TRUE(patch(PatchType::strategic, R"({"spec":{"restartPolicy":"Always"}})"));
  EXPECT_EQ(store->view().revision(), before);
}

TEST_F(PatchesTest, a_failed_test_is_invalid) {
  EXPECT_EQ(
      patch(PatchType::json, R"([{"op":"test","path":"/spec/nodeName","value":"x"}])").error().code,
      Code::invalid);
}

TEST_F(PatchesTest, the_name_cannot_be_removed) {
  ASSERT_TRUE(patch(PatchType::merge, R"({"metadata":{"finalizers":["a.io/b"]}})"));
  for (auto [type, body] :
       {std::pair(PatchType::merge, R"({"metadata":{"name":null}})"),
        std::pair(PatchType::strategic, R"({"metadata":null})"),
        std::pair(PatchType::json, R"([{"op":"remove","path":"/metadata"}])")}) {
    auto patched = patch(type, body);
    ASSERT_FALSE(patched) << body;
    EXPECT_NE(patched.error().message.find("name must be provided"), std::string::npos)
        << patched.error().message;
  }
  auto kept = run(client->get(res::pods, {"default", "p"}));
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(kept->at("metadata").at("finalizers").as_array().size(), 1u);
}

TEST_F(PatchesTest, a_revision_in_the_patch_must_match) {
  EXPECT_EQ(patch(PatchType::merge, R"({"metadata":{"resourceVersion":"1","labels":{"a":"b"}}})")
                .error()
                .code,
            Code::conflict);
}

TEST_F(PatchesTest, patches_of_the_status_leave_the_rest) {
  auto out = run(client->patch(res::pods, {"default", "p", "status"}, PatchType::strategic,
                               parsed(R"({"spec":{"nodeName":"n"},"status":{"phase":"Running",
                 "conditions":[{"type":"Ready","status":"True"}]}})")));
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(text_at(*out, {"status", "phase"}), "Running");
  EXPECT_EQ(text_at(*out, {"spec", "nodeName"}), "");
}

TEST_F(PatchesTest, dry_runs_store_nothing) {
  const store::Revision before = store->view().revision();
  auto out = patch(PatchType::merge, R"({"metadata":{"labels":{"a":"b"}}})", {.dry_run = true});
  ASSERT_TRUE(out);
  EXPECT_EQ(kube::label_of(*out, "a"), "b");
  auto made = send("POST", "/api/v1/namespaces/default/pods?dryRun=All", to_json(simple_pod("q")));
  EXPECT_EQ(made.status, 201);
  EXPECT_FALSE(kube::uid_of(parsed(made.body)).empty());
  EXPECT_EQ(kube::resource_version_of(parsed(made.body)), "");
  EXPECT_EQ(store->view().revision(), before);
}

TEST_F(PatchesTest, apply_creates_updates_and_removes_fields) {
  auto apply = [&](std::string_view manager, std::string_view data, bool force = false) {
    return run(client->patch(
        res::config_maps, {"default", "m"}, PatchType::apply,
        parsed(fmt::format(
            R"({{"kind":"ConfigMap","apiVersion":"v1","metadata":{{"name":"m"}},"data":{}}})",
            data)),
        {.field_manager = std::string(manager), .force = force}));
  };
  auto made = apply("one", R"({"a":"1","b":"2"})");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(text_at(*made, {"data", "b"}), "2");
  auto fewer = apply("one", R"({"a":"1"})");
  ASSERT_TRUE(fewer);
  EXPECT_FALSE(find(*fewer, {"data", "b"}));
  auto conflict = apply("two", R"({"a":"3"})");
  ASSERT_FALSE(conflict);
  EXPECT_EQ(conflict.error().code, Code::conflict);
  EXPECT_EQ(conflict.error().message,
            "Apply failed with 1 conflict: conflict with \"one\": .data.a");
  auto forced = apply("two", R"({"a":"3"})", true);
  ASSERT_TRUE(forced);
  EXPECT_EQ(text_at(*forced, {"data", "a"}), "3");
  const store::Revision before = store->view().revision();
  ASSERT_TRUE(apply("two", R"({"a":"3"})", true));
  EXPECT_EQ(store->view().revision(), before) << "applying the same again changes nothing";
}

TEST_F(PatchesTest, yaml_bodies_are_read) {
  auto made = send("POST", "/api/v1/namespaces/default/configmaps",
                   "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: why\ndata:\n  a: b\n",
                   {{"Content-Type", "application/yaml"}});
  EXPECT_EQ(made.status, 201) << made.body;
}

}  // namespace
}  // namespace plim::local::apiserver::testing
