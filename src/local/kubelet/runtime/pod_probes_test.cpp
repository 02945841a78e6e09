#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "local/kubelet/runtime/testing/node_fixture.hpp"

namespace plim::local::kubelet {
namespace {

using namespace std::chrono_literals;

class PodProbes : public testing::NodeTest {
 protected:
  void create_probed(std::string_view probes, std::string_view policy = "Never") {
    create_pod("a", fmt::format(R"({{"restartPolicy":"{}","terminationGracePeriodSeconds":5,
        "containers":[{{"name":"c","image":"x","command":["sleep","1000"],{}}}]}})",
                                policy, probes));
  }

  std::string pod_file(std::string_view name) {
    return fmt::format("{}/n1/pods/{}/{}", dir.path(), text_at(get_pod("a"), {"metadata", "uid"}),
                       name);
  }
};

TEST_F(PodProbes, hold_back_readiness) {
  start_node();
  create_probed(R"("readinessProbe":{"exec":{"command":["test","-e","../ready"]},
      "periodSeconds":5,"failureThreshold":2})");
  follow("a", shows("c:Running"));
  ASSERT_TRUE(write_file(pod_file("ready"), ""));
  advance_until("a", "c:Ready", 1s);
  ASSERT_TRUE(remove_file(pod_file("ready")));
  advance_until("a", "c:Running", 1s);
}

TEST_F(PodProbes, restart_containers_that_fail_liveness) {
  start_node();
  create_probed(R"("livenessProbe":{"exec":{"command":["false"]},"failureThreshold":1})", "Always");
  const auto states = follow("a", shows("x1"));
  EXPECT_THAT(states, ::testing::Contains("Running c:Error(143)"));
}

TEST_F(PodProbes, wait_for_the_start) {
  start_node();
  create_probed(R"("startupProbe":{"exec":{"command":["test","-e","../up"]},"periodSeconds":1,
      "failureThreshold":10000},"livenessProbe":{"exec":{"command":["test","-e","../up"]},
      "failureThreshold":1})");
  follow("a", shows("c:Running"));
  ASSERT_TRUE(write_file(pod_file("up"), ""));
  advance_until("a", "c:Ready", 1s);
}

TEST_F(PodProbes, connect_to_the_pods_own_address) {
  start_node();
  create_pod("a", R"({"restartPolicy":"Never","terminationGracePeriodSeconds":5,
      "containers":[{"name":"c","image":"plimsoll/tools","args":["http","--port","18080"],
        "ports":[{"name":"web","containerPort":18080}],
        "readinessProbe":{"httpGet":{"path":"/x","port":"web"},"periodSeconds":1}}]})");
  advance_until("a", "c:Ready", 1s);
}

TEST_F(PodProbes, are_not_passed_without_a_listener) {
  start_node();
  create_probed(R"("readinessProbe":{"tcpSocket":{"port":18081},"periodSeconds":1})");
  follow("a", shows("c:Running"));
  for (int i = 0; i < 5; ++i) {
    clock.advance(1s);
    loop.run_ready();
  }
  EXPECT_EQ(testing::summary(get_pod("a")), "Running c:Running");
}

}  // namespace
}  // namespace plim::local::kubelet
