#include "kube/discovery.hpp"

#include <gtest/gtest.h>

#include "kube/testing/scripted_server.hpp"

namespace plim::kube {
namespace {

using plim::testing::ScriptedServer;

class DiscoveryTest : public ::testing::Test {
 protected:
  Result<std::vector<Resource>> ask(std::string group, std::string version) {
    PLIM_TRY(auto client, Client::create(loop.executor(), server.config()));
    return run_to_end(loop, discover(client, std::move(group), std::move(version)));
  }

  void TearDown() override { run_to_end(loop, server.stop()); }

  Loop loop;
  ScriptedServer server{loop};
};

TEST_F(DiscoveryTest, lists_kinds_without_sub_resources) {
  server.answer(200, R"({"kind":"APIResourceList","groupVersion":"apps/v1","resources":[
    {"name":"deployments","namespaced":true,"kind":"Deployment"},
    {"name":"deployments/scale","namespaced":true,"kind":"Scale"},
    {"name":"things","namespaced":false,"kind":"Thing"}, 7, {}]})");
  const auto found = ask("apps", "v1");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(server.last().path, "/apis/apps/v1");
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ(api_path((*found)[0], {"shop", "web"}),
            "/apis/apps/v1/namespaces/shop/deployments/web");
  EXPECT_EQ((*found)[1].kind, "Thing");
  EXPECT_FALSE((*found)[1].namespaced);
}

TEST_F(DiscoveryTest, a_missing_group_is_not_found) {
  server.answer(404, "404 page not found");
  const auto found = ask("", "v9");
  ASSERT_FALSE(found);
  EXPECT_EQ(server.last().path, "/api/v9");
  EXPECT_EQ(found.error().code, Code::not_found);
  EXPECT_EQ(found.error().message,
            "resources of /api/v9: the server answered 404 Not Found: 404 page not found");
}

}  // namespace
}  // namespace plim::kube
