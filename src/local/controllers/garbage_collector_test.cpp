// Owners, dependents and namespaces on a complete API server.
#include <algorithm>

#include <gtest/gtest.h>

#include "local/controllers/testing/controllers_fixture.hpp"

namespace plim::local::controllers {
namespace {

using kube::resources::config_maps;
using kube::resources::deployments;
using kube::resources::jobs;
using kube::resources::namespaces;
using kube::resources::pods;
using kube::resources::replica_sets;
using kube::resources::service_accounts;
using testing::deployment;

class Garbage : public testing::ControllersTest {
 protected:
  json::value config_map(std::string_view name, const std::vector<json::value>& owners) {
    json::value out{{"metadata", {{"name", name}}}};
    for (const json::value& owner : owners) {
      kube::OwnerReference reference = testing::reference_to(config_maps, owner);
      reference.block_owner_deletion = true;
      PLIM_ASSERT(kube::set_owner(out, reference));
    }
    return out;
  }

  bool exists(const kube::Resource& kind, const std::string& name) {
    return get(kind, name).is_object();
  }
};

TEST_F(Garbage, dependents_are_deleted_after_their_owner) {
  start();
  json::value a = create(config_maps, config_map("a", {}));
  json::value b = create(config_maps, config_map("b", {a}));
  create(config_maps, config_map("c", {b}));
  create(config_maps, config_map("bystander", {}));
  settle();
  EXPECT_TRUE(exists(config_maps, "c"));
  remove(config_maps, "a");
  settle();
  EXPECT_FALSE(exists(config_maps, "b"));
  EXPECT_FALSE(exists(config_maps, "c"));
  EXPECT_TRUE(exists(config_maps, "bystander"));
}

TEST_F(Garbage, an_object_stays_while_one_of_its_owners_exists) {
  start();
  json::value a = create(config_maps, config_map("a", {}));
  json::value b = create(config_maps, config_map("b", {}));
  create(config_maps, config_map("both", {a, b}));
  settle();
  remove(config_maps, "a");
  settle();
  ASSERT_TRUE(exists(config_maps, "both"));
  EXPECT_EQ(kube::owners_of(get(config_maps, "both")).size(), 1u);
  remove(config_maps, "b");
  settle();
  EXPECT_FALSE(exists(config_maps, "both"));
}

TEST_F(Garbage, an_owner_that_never_existed_is_detected_even_after_a_restart) {
  json::value ghost = config_map("ghost", {});
  make_object(ghost, {"metadata"})["uid"] = "00000000-0000-4000-8000-000000000000";
  create(config_maps, config_map("victim", {ghost}));
  start();
  EXPECT_FALSE(exists(config_maps, "victim"));
}

TEST_F(Garbage, orphaning_keeps_dependents) {
  start();
  json::value a = create(config_maps, config_map("a", {}));
  create(config_maps, config_map("b", {a}));
  settle();
  remove(config_maps, "a", "Orphan");
  settle();
  EXPECT_FALSE(exists(config_maps, "a"));
  ASSERT_TRUE(exists(config_maps, "b"));
  EXPECT_TRUE(kube::owners_of(get(config_maps, "b")).empty());
}

TEST_F(Garbage, foreground_deletion_deletes_the_owner_last) {
  start();
  create(deployments, deployment("web", 3));
  settle();
  run_pods();
  // A pod that has not ended blocks the deletion of all its owners.
  const std::string held(kube::name_of(list(pods).at(0)));
  edit(pods, held, [](json::value& pod) {
    make_object(pod, {"metadata"})["finalizers"] = json::array{"example.com/wait"};
  });
  remove(deployments, "web", "Foreground");
  settle();
  EXPECT_EQ(list(pods).size(), 1u);
  EXPECT_EQ(list(replica_sets).size(), 1u);
  EXPECT_TRUE(exists(deployments, "web"));
  edit(pods, held, [](json::value& pod) { make_object(pod, {"metadata"}).erase("finalizers"); });
  settle();
  EXPECT_TRUE(list(pods).empty());
  EXPECT_TRUE(list(replica_sets).empty());
  EXPECT_FALSE(exists(deployments, "web"));
}

TEST_F(Garbage, background_deletion_of_a_deployment_ends_its_pods) {
  start();
  create(deployments, deployment("web", 4));
  settle();
  remove(deployments, "web", "Background");
  settle();
  EXPECT_TRUE(list(replica_sets).empty());
  EXPECT_TRUE(list(pods).empty());
}

// As the job engine does: a Job that owns a Deployment and a Service.
TEST_F(Garbage, everything_that_a_job_owns_is_deleted_with_it) {
  start();
  json::value owner = create(jobs, testing::job("run", "{}"));
  json::value workers = deployment("workers", 2);
  kube::OwnerReference reference = testing::reference_to(jobs, owner);
  reference.block_owner_deletion = true;
  ASSERT_TRUE(kube::set_owner(workers, reference));
  create(deployments, std::move(workers));
  json::object port{{"port", 80}};
  json::value service{{"metadata", {{"name", "workers"}}},
                      {"spec", {{"selector", {{"app", "web"}}}, {"ports", json::array{port}}}}};
  ASSERT_TRUE(kube::set_owner(service, reference));
  create(kube::resources::services, std::move(service));
  settle();
  run_pods();
  EXPECT_EQ(list(pods).size(), 3u);
  remove(jobs, "run", "Foreground");
  pass(std::chrono::seconds(2));
  EXPECT_FALSE(exists(jobs, "run"));
  EXPECT_FALSE(exists(deployments, "workers"));
  EXPECT_FALSE(exists(kube::resources::services, "workers"));
  EXPECT_TRUE(list(pods).empty());
}

TEST_F(Garbage, every_namespace_has_a_service_account_and_the_authority) {
  ControllersOptions options;
  options.root_ca_pem = "PEM";
  start("all", options);
  create(namespaces, {{"metadata", {{"name", "shop"}}}});
  settle();
  EXPECT_TRUE(get(service_accounts, "default", "shop").is_object());
  EXPECT_EQ(text_at(get(config_maps, "kube-root-ca.crt", "shop"), {"data", "ca.crt"}), "PEM");
  remove(service_accounts, "default", "", "shop");
  edit(
      config_maps, "kube-root-ca.crt",
      [](json::value& map) { make_object(map, {"data"})["ca.crt"] = "forged"; }, "", "shop");
  settle();
  EXPECT_TRUE(get(service_accounts, "default", "shop").is_object());
  EXPECT_EQ(text_at(get(config_maps, "kube-root-ca.crt", "shop"), {"data", "ca.crt"}), "PEM");
}

TEST_F(Garbage, a_deleted_namespace_ends_with_everything_gone) {
  start();
  create(namespaces, {{"metadata", {{"name", "shop"}}}});
  settle();
  create(deployments, deployment("web", 3), "shop");
  create(config_maps, config_map("a", {}), "shop");
  settle();
  run_pods("shop");
  EXPECT_EQ(list(pods, "shop").size(), 3u);
  remove(namespaces, "shop");
  pass(std::chrono::seconds(3));
  EXPECT_FALSE(exists(namespaces, "shop"));
  EXPECT_TRUE(list(pods, "shop").empty());
  EXPECT_TRUE(list(deployments, "shop").empty());
  EXPECT_TRUE(list(config_maps, "shop").empty());
  EXPECT_TRUE(list(service_accounts, "shop").empty());
}

TEST_F(Garbage, a_namespace_says_what_it_waits_for) {
  start();
  create(namespaces, {{"metadata", {{"name", "shop"}}}});
  settle();
  json::value stuck = config_map("stuck", {});
  make_object(stuck, {"metadata"})["finalizers"] = json::array{"example.com/wait"};
  create(config_maps, std::move(stuck), "shop");
  remove(namespaces, "shop");
  settle();
  const std::string text = to_json(get(namespaces, "shop").at("status"));
  EXPECT_NE(text.find("configmaps. has 1 resource instances"), text.npos) << text;
  EXPECT_NE(text.find("example.com/wait in 1 resource instances"), text.npos) << text;
  edit(
      config_maps, "stuck",
      [](json::value& map) { make_object(map, {"metadata"}).erase("finalizers"); }, "", "shop");
  pass(std::chrono::seconds(20));
  EXPECT_FALSE(exists(namespaces, "shop"));
}

}  // namespace
}  // namespace plim::local::controllers
