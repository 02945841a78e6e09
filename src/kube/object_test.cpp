#include "kube/object.hpp"

#include <gtest/gtest.h>

namespace plim::kube {
namespace {

json::value pod() {
  return *parse_json(R"({"metadata": {"name": "web-1", "namespace": "shop", "uid": "u1",
    "resourceVersion": "42", "labels": {"app": "web"}, "annotations": {"a/b": "c"}}})");
}

OwnerReference owner(std::string uid, bool controller) {
  return {.api_version = "apps/v1",
          .kind = "ReplicaSet",
          .name = "web-" + uid,
          .uid = uid,
          .controller = controller};
}

TEST(Object, reads_metadata) {
  const json::value object = pod();
  EXPECT_EQ(name_of(object), "web-1");
  EXPECT_EQ(namespace_of(object), "shop");
  EXPECT_EQ(uid_of(object), "u1");
  EXPECT_EQ(resource_version_of(object), "42");
  EXPECT_EQ(label_of(object, "app"), "web");
  EXPECT_EQ(annotation_of(object, "a/b"), "c");
  EXPECT_EQ(annotation_of(object, "missing"), "");
  EXPECT_FALSE(is_being_deleted(object));
  EXPECT_EQ(key_of(object), "shop/web-1");
  EXPECT_EQ(key_of(*parse_json(R"({"metadata": {"name": "n1"}})")), "n1");
  EXPECT_EQ(key_of(json::value(3)), "");
}

TEST(Object, has_at_most_one_controller) {
  json::value object = pod();
  EXPECT_EQ(controller_of(object), std::nullopt);
  ASSERT_TRUE(set_owner(object, owner("a", false)));
  ASSERT_TRUE(set_owner(object, owner("b", true)));
  EXPECT_TRUE(is_controlled_by(object, "b"));
  EXPECT_FALSE(is_controlled_by(object, "a"));
  const auto refused = set_owner(object, owner("c", true));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_EQ(refused.error().message, "shop/web-1 is already controlled by ReplicaSet web-b");
  EXPECT_EQ(owners_of(object).size(), 2u);
}

TEST(Object, setting_an_owner_again_replaces_it) {
  json::value object = pod();
  ASSERT_TRUE(set_owner(object, owner("a", true)));
  ASSERT_TRUE(set_owner(object, owner("a", false)));
  ASSERT_EQ(owners_of(object).size(), 1u);
  EXPECT_FALSE(owners_of(object).front().controller);
}

TEST(Object, removing_the_last_owner_leaves_no_empty_list) {
  json::value object = pod();
  ASSERT_TRUE(set_owner(object, owner("a", true)));
  EXPECT_FALSE(remove_owner(object, "b"));
  EXPECT_TRUE(remove_owner(object, "a"));
  EXPECT_EQ(object, pod());
  EXPECT_FALSE(remove_owner(object, "a"));
}

}  // namespace
}  // namespace plim::kube
