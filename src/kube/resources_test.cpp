#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "kube/client.hpp"
#include "net/http.hpp"

namespace plim::kube {
namespace {

TEST(ApiPath, follows_the_api) {
  using namespace resources;
  EXPECT_EQ(api_path(pods, {"", ""}), "/api/v1/pods");
  EXPECT_EQ(api_path(pods, {"shop", ""}), "/api/v1/namespaces/shop/pods");
  EXPECT_EQ(api_path(pods, {"shop", "web", "eviction"}),
            "/api/v1/namespaces/shop/pods/web/eviction");
  EXPECT_EQ(api_path(nodes, {"ignored", "n1", "status"}), "/api/v1/nodes/n1/status");
  EXPECT_EQ(api_path(namespaces, {"", "shop"}), "/api/v1/namespaces/shop");
  EXPECT_EQ(api_path(leases, {"kube-system", "x"}),
            "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/x");
  EXPECT_EQ(api_path(services, {"shop", "web:80", "proxy/v1/runs"}),
            "/api/v1/namespaces/shop/services/web%3A80/proxy/v1/runs");
}

TEST(ApiPath, does_not_let_names_leave_their_segment) {
  EXPECT_EQ(api_path(resources::pods, {"a/b", "../c?d=e#f"}),
            "/api/v1/namespaces/a%2Fb/pods/..%2Fc%3Fd%3De%23f");
}

TEST(ApiVersion, has_the_group_in_front_if_there_is_one) {
  EXPECT_EQ(api_version(resources::pods), "v1");
  EXPECT_EQ(api_version(resources::deployments), "apps/v1");
}

std::vector<std::string> segments(std::string_view path) {
  std::vector<std::string> out;
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::string_view one = path.substr(0, path.find('/'));
    out.push_back(net::percent_decode(one));
    path.remove_prefix(one.size());
  }
  return out;
}

RC_GTEST_PROP(ApiPath, gives_back_any_namespace_and_name, ()) {
  const auto ns = *rc::gen::nonEmpty<std::string>();
  const auto name = *rc::gen::nonEmpty<std::string>();
  const auto parts = segments(api_path(resources::jobs, {ns, name, "status"}));
  RC_ASSERT(parts == (std::vector<std::string>{"apis", "batch", "v1", "namespaces", ns, "jobs",
                                               name, "status"}));
}

RC_GTEST_PROP(Query, survives_the_round_trip, ()) {
  const auto pairs = *rc::gen::container<std::vector<std::pair<std::string, std::string>>>(
      rc::gen::pair(rc::gen::nonEmpty<std::string>(), rc::gen::string<std::string>()));
  RC_ASSERT(net::parse_query(net::format_query(pairs)) == pairs);
}

}  // namespace
}  // namespace plim::kube
