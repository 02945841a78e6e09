#include "kube/host_port.hpp"

#include <gtest/gtest.h>

#include "kube/decode.hpp"

namespace plim::kube {
namespace {

std::vector<HostPort> ports_of(const std::string& spec) {
  InternPool pool;
  std::string text = R"({"metadata": {"name": "p"}, "spec": )" + spec + "}";
  auto pod = decode_pod(JsonText(text), pool);
  EXPECT_TRUE(pod);
  return pod ? host_ports(*pod) : std::vector<HostPort>();
}

TEST(HostPorts, are_those_of_containers_and_of_sidecars) {
  const auto found = ports_of(R"({
      "initContainers": [{"name": "once", "ports": [{"hostPort": 1}]},
                         {"name": "beside", "restartPolicy": "Always", "ports": [{"hostPort": 2}]}],
      "containers": [{"name": "a", "ports": [{"containerPort": 3}, {"hostPort": 4, "hostIP": "10.0.0.1"}]},
                     {"name": "b", "ports": [{"hostPort": 5, "protocol": "UDP"}]}]})");
  EXPECT_EQ(found, (std::vector<HostPort>{
                       {4, "TCP", "10.0.0.1"}, {5, "UDP", "0.0.0.0"}, {2, "TCP", "0.0.0.0"}}));
}

TEST(HostPorts, clash_by_port_protocol_and_address) {
  const HostPort any{80, "TCP", "0.0.0.0"}, one{80, "TCP", "10.0.0.1"}, two{80, "TCP", "10.0.0.2"};
  EXPECT_TRUE(any.clashes_with(one));
  EXPECT_TRUE(one.clashes_with(any));
  EXPECT_TRUE(one.clashes_with(one));
  EXPECT_FALSE(one.clashes_with(two));
  EXPECT_FALSE(any.clashes_with({80, "UDP", "0.0.0.0"}));
  EXPECT_FALSE(any.clashes_with({81, "TCP", "0.0.0.0"}));
  EXPECT_TRUE(any.clashes_with_any({{81, "TCP", "0.0.0.0"}, two}));
  EXPECT_FALSE(any.clashes_with_any({}));
}

}  // namespace
}  // namespace plim::kube
