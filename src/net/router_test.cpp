#include "net/router.hpp"

#include <gtest/gtest.h>

namespace plim::net {
namespace {

Router router() {
  std::vector<Route> routes;
  for (auto [method, pattern] :
       {std::pair("*", "*"), std::pair("GET", "/api/*"), std::pair("GET", "/api/v1/*"),
        std::pair("POST", "/api/v1/*"), std::pair("*", "/api/v1/pods")}) {
    Route route{.method = method, .pattern = pattern};
    routes.push_back(std::move(route));
  }
  return Router(std::move(routes));
}

TEST(Router, prefers_the_most_specific_pattern) {
  Router routes = router();
  EXPECT_EQ(routes.find("GET", "/api/v1/nodes")->pattern, "/api/v1/*");
  EXPECT_EQ(routes.find("GET", "/api/v1/pods")->pattern, "/api/v1/pods");
  EXPECT_EQ(routes.find("GET", "/api/v2")->pattern, "/api/*");
  EXPECT_EQ(routes.find("GET", "/api")->pattern, "*");
  EXPECT_EQ(routes.find("POST", "/api/v1/x")->method, "POST");
}

TEST(Router, serves_head_by_get_and_names_allowed_methods) {
  Router routes({Route{.method = "GET", .pattern = "/x"}, Route{.method = "PUT", .pattern = "/x"}});
  EXPECT_EQ(routes.find("HEAD", "/x")->method, "GET");
  EXPECT_EQ(routes.find("POST", "/x"), nullptr);
  EXPECT_EQ(routes.find("GET", "/y"), nullptr);
  EXPECT_EQ(routes.allowed_methods("/x"), "GET, PUT");
  EXPECT_EQ(routes.allowed_methods("/y"), "");
}

}  // namespace
}  // namespace plim::net
