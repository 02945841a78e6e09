#include "kube/qos.hpp"

#include <string>

#include <gtest/gtest.h>

namespace plim::kube {
namespace {

std::string qos(std::string_view spec) {
  return std::string(qos_class_of_spec(*parse_json(spec)));
}

TEST(Qos, is_best_effort_without_any_amount) {
  EXPECT_EQ(qos(R"({"containers": [{}]})"), "BestEffort");
  EXPECT_EQ(qos(R"({"containers": [{"resources": {"requests": {"cpu": "0"}}}]})"), "BestEffort");
  EXPECT_EQ(qos(R"({"containers": [{"resources": {"limits": {"nvidia.com/gpu": "1"}}}]})"),
            "BestEffort");
  EXPECT_EQ(qos_class(json::value(nullptr)), "BestEffort");
}

TEST(Qos, is_guaranteed_when_every_container_gets_what_limits_it) {
  EXPECT_EQ(qos(R"({"containers": [{"resources": {"limits": {"cpu": "1", "memory": "1Gi"},
                                     "requests": {"cpu": "1000m", "memory": "1024Mi"}}}]})"),
            "Guaranteed");
}

TEST(Qos, counts_init_containers) {
  EXPECT_EQ(qos(R"({"initContainers": [{}],
                    "containers": [{"resources": {"limits": {"cpu": "1", "memory": "1Gi"},
                                     "requests": {"cpu": "1", "memory": "1Gi"}}}]})"),
            "Burstable");
}

TEST(Qos, is_burstable_in_between) {
  EXPECT_EQ(qos(R"({"containers": [{"resources": {"requests": {"cpu": "1"}}}]})"), "Burstable");
  EXPECT_EQ(qos(R"({"containers": [{"resources": {"limits": {"cpu": "1"},
                                                   "requests": {"cpu": "1"}}}]})"),
            "Burstable");
}

TEST(Qos, prefers_the_resources_of_the_pod) {
  EXPECT_EQ(qos(R"({"containers": [{}], "resources": {"limits": {"cpu": "1", "memory": "1Gi"},
                    "requests": {"cpu": "1", "memory": "1Gi"}}})"),
            "Guaranteed");
}

}  // namespace
}  // namespace plim::kube
