// In-place resizes on a node whose cgroups only remember what was written.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "local/kubelet/nodes/pod_limits.hpp"
#include "local/kubelet/runtime/testing/node_fixture.hpp"

namespace plim::local::kubelet {
namespace {

using namespace std::chrono_literals;
using apiserver::testing::parsed;

class ResizeTest : public testing::NodeTest {
 protected:
  // One container that runs until it is stopped, with exit code 0.
  void start_pod(const std::string& name, std::string_view resources, std::string_view more = "") {
    create_pod(name, fmt::format(R"({{"restartPolicy":"OnFailure","terminationGracePeriodSeconds":5,
        "containers":[{{"name":"c","image":"busybox","command":["sh","-c",
          "trap 'exit 0' TERM; while true; do sleep 0.05; done"],
        "resources":{}{}}}]}})",
                                 resources, more));
    follow(name, shows("c:Ready"));
  }

  net::Response resize(const std::string& name, std::string_view resources) {
    return send(
        "PATCH", fmt::format("/api/v1/namespaces/default/pods/{}/resize", name),
        fmt::format(R"({{"spec":{{"containers":[{{"name":"c","resources":{}}}]}}}})", resources),
        {{"Content-Type", "application/strategic-merge-patch+json"}});
  }

  static const json::value& status_of(const json::value& pod) {
    return pod.at("status").at("containerStatuses").at(0);
  }

  // The status shows this CPU request as in force, and no resize is under way.
  static Condition has_cpu(const std::string& amount) {
    return [amount](const json::value& pod) {
      return text_at(status_of(pod), {"resources", "requests", "cpu"}) == amount &&
             condition(pod, "PodResizeInProgress") == nullptr &&
             condition(pod, "PodResizePending") == nullptr;
    };
  }

  static const json::value* condition(const json::value& pod, std::string_view type) {
    for (const json::value& one : kube::list_at(pod, "Pod.status.conditions"))
      if (kube::text_at(one, "PodCondition.type") == type) return &one;
    return nullptr;
  }

  static Condition is_deferred() {
    return [](const json::value& pod) { return condition(pod, "PodResizePending") != nullptr; };
  }
};

TEST_F(ResizeTest, changes_a_running_container) {
  start_node();
  start_pod("p", R"({"requests":{"cpu":"500m"}})");
  EXPECT_EQ(text_at(status_of(get_pod("p")), {"allocatedResources", "cpu"}), "500m");
  ASSERT_EQ(resize("p", R"({"requests":{"cpu":"1500m"}})").status, 200);
  follow("p", has_cpu("1500m"));
  const json::value pod = get_pod("p");
  EXPECT_EQ(text_at(status_of(pod), {"allocatedResources", "cpu"}), "1500m");
  EXPECT_EQ(int_at(status_of(pod), {"restartCount"}), 0);
  EXPECT_EQ(int_at(pod, {"status", "observedGeneration"}), 2);
}

TEST_F(ResizeTest, restarts_a_container_whose_policy_says_so) {
  start_node();
  start_pod("p", R"({"requests":{"cpu":"500m"}})",
            R"(,"resizePolicy":[{"resourceName":"cpu","restartPolicy":"RestartContainer"}])");
  ASSERT_EQ(resize("p", R"({"requests":{"cpu":"600m"}})").status, 200);
  follow("p", [](const json::value& pod) {
    return has_cpu("600m")(pod) && int_at(status_of(pod), {"restartCount"}) == 1;
  });
  EXPECT_EQ(text_at(get_pod("p"), {"status", "phase"}), "Running") << "although it ended with 0";
}

TEST_F(ResizeTest, two_in_quick_succession_end_with_the_second) {
  start_node();
  start_pod("p", R"({"requests":{"cpu":"500m"}})");
  ASSERT_EQ(resize("p", R"({"requests":{"cpu":"600m"}})").status, 200);
  ASSERT_EQ(resize("p", R"({"requests":{"cpu":"700m"}})").status, 200);
  follow("p", has_cpu("700m"));
}

TEST_F(ResizeTest, waits_for_room_on_the_node) {
  start_node();
  start_pod("big", R"({"requests":{"cpu":"3"}})");
  start_pod("p", R"({"requests":{"cpu":"500m"}})");
  ASSERT_EQ(resize("p", R"({"requests":{"cpu":"2"}})").status, 200);
  follow("p", is_deferred());
  const json::value waiting = get_pod("p");
  const json::value& pending = *condition(waiting, "PodResizePending");
  EXPECT_EQ(text_at(pending, {"reason"}), "Deferred");
  EXPECT_EQ(text_at(pending, {"message"}),
            "Node didn't have enough resource: cpu, requested: 2000, used: 3000, capacity: 4000");
  EXPECT_EQ(int_at(pending, {"observedGeneration"}), 2);
  EXPECT_EQ(text_at(status_of(waiting), {"resources", "requests", "cpu"}), "500m");
  ASSERT_EQ(resize("big", R"({"requests":{"cpu":"1"}})").status, 200);
  follow("p", has_cpu("2"));
}

TEST_F(ResizeTest, that_waits_can_be_taken_back) {
  start_node();
  start_pod("big", R"({"requests":{"cpu":"3"}})");
  start_pod("p", R"({"requests":{"cpu":"500m"}})");
  ASSERT_EQ(resize("p", R"({"requests":{"cpu":"4"}})").status, 200);
  follow("p", is_deferred());
  ASSERT_EQ(resize("p", R"({"requests":{"cpu":"500m"}})").status, 200);
  follow("p", has_cpu("500m"));
}

TEST_F(ResizeTest, that_waits_counts_what_a_deleted_pod_leaves) {
  start_node();
  start_pod("big", R"({"requests":{"cpu":"3"}})");
  start_pod("p", R"({"requests":{"cpu":"500m"}})");
  ASSERT_EQ(resize("p", R"({"requests":{"cpu":"2"}})").status, 200);
  follow("p", is_deferred());
  ASSERT_TRUE(run(client->remove(kube::resources::pods, {"default", "big"})));
  follow("p", has_cpu("2"));
}

TEST_F(ResizeTest, happens_after_the_node_was_stopped) {
  start_node();
  start_pod("p", R"({"requests":{"cpu":"500m"}})");
  stop_node();
  ASSERT_EQ(resize("p", R"({"requests":{"cpu":"600m"}})").status, 200);
  start_node();
  follow("p", has_cpu("600m"));
  EXPECT_EQ(int_at(status_of(get_pod("p")), {"restartCount"}), 0);
}

TEST_F(ResizeTest, a_restarted_node_keeps_what_it_has_allocated) {
  start_node();
  start_pod("other", R"({"requests":{"cpu":"1"}})");
  start_pod("p", R"({"requests":{"cpu":"500m"}})");
  ASSERT_EQ(resize("p", R"({"requests":{"cpu":"1"}})").status, 200);
  follow("p", has_cpu("1"));
  ASSERT_EQ(resize("p", R"({"requests":{"cpu":"4"}})").status, 200);
  follow("p", is_deferred());
  stop_node();
  start_node();
  EXPECT_EQ(text_at(status_of(get_pod("p")), {"resources", "requests", "cpu"}), "1");
  ASSERT_EQ(resize("p", R"({"requests":{"cpu":"2"}})").status, 200);
  follow("p", has_cpu("2"));
}

TEST_F(ResizeTest, does_not_delay_a_deletion) {
  start_node();
  start_pod("p", R"({"requests":{"cpu":"500m"}})",
            R"(,"resizePolicy":[{"resourceName":"cpu","restartPolicy":"RestartContainer"}])");
  ASSERT_EQ(resize("p", R"({"requests":{"cpu":"600m"}})").status, 200);
  ASSERT_TRUE(run(client->remove(kube::resources::pods, {"default", "p"})));
  EXPECT_EQ(follow("p", phase("none")).back(), "gone");
}

TEST_F(ResizeTest, while_a_container_restarts_is_in_force_when_it_runs) {
  start_node();
  create_pod("p", R"({"restartPolicy":"Always","containers":[{"name":"c","image":"busybox",
      "command":["sh","-c","exit 1"],"resources":{"requests":{"cpu":"500m"}}}]})");
  advance_until("p", "CrashLoopBackOff", 100ms);
  ASSERT_EQ(resize("p", R"({"requests":{"cpu":"600m"}})").status, 200);
  follow("p", has_cpu("600m"));
}

// Remembers limits and refuses containers that their pod has no room for, as the kernel does.
class MeteredCgroups final : public testing::StubCgroups {
 public:
  Result<void> make_pod(const json::value& pod) override {
    const node::CgroupLimits limits = pod_limits(pod);
    for (const auto& [id, quota] : quotas)
      if (limits.quota_us != node::CgroupLimits::kUnlimited && quota > *limits.quota_us)
        return fail(Code::invalid, "a container has more than the pod");
    pod_quota = limits.quota_us.value_or(0);
    return {};
  }

  Result<void> make_container(const json::value& pod, std::string name, std::string id) override {
    const std::int64_t quota = *container_limits(*find_container(pod, name)).quota_us;
    if (pod_quota != node::CgroupLimits::kUnlimited && quota > pod_quota)
      return fail(Code::invalid, "the pod has less than the container");
    quotas[id] = quota;
    return {};
  }

  std::optional<CgroupUsage> usage(const json::value&, std::string) const override {
    CgroupUsage out;
    out.memory_bytes = memory;
    return out;
  }

  std::int64_t pod_quota = 0;
  std::uint64_t memory = 0;
  std::map<std::string, std::int64_t> quotas;  // by container id
};

class MeteredResizeTest : public ResizeTest {
 protected:
  void start_metered() {
    node = LocalNode::create({loop.executor(), client, clock, images, metered, devices}, options);
    ASSERT_TRUE(run(node->start()));
  }

  MeteredCgroups metered;
};

TEST_F(MeteredResizeTest, the_pod_has_room_for_its_container_at_every_moment) {
  start_metered();
  start_pod("p", R"({"limits":{"cpu":"500m"},"requests":{"cpu":"100m"}})");
  for (const auto& [limit, quota] :
       std::vector<std::pair<std::string, std::int64_t>>{{"2", 200'000}, {"300m", 30'000}}) {
    ASSERT_EQ(resize("p", fmt::format(R"({{"limits":{{"cpu":"{}"}}}})", limit)).status, 200);
    follow("p", [&](const json::value& pod) {
      return text_at(status_of(pod), {"resources", "limits", "cpu"}) == limit &&
             condition(pod, "PodResizeInProgress") == nullptr;
    });
    EXPECT_EQ(metered.pod_quota, quota);
    EXPECT_EQ(metered.quotas.begin()->second, quota);
  }
}

TEST_F(MeteredResizeTest, memory_limits_do_not_go_below_the_usage) {
  start_metered();
  start_pod("p", R"({"limits":{"memory":"1Gi"},"requests":{"cpu":"100m","memory":"1Mi"}})");
  metered.memory = 500u << 20;
  ASSERT_EQ(resize("p", R"({"limits":{"memory":"100Mi"}})").status, 200);
  follow("p", [](const json::value& pod) {
    const json::value* progress = condition(pod, "PodResizeInProgress");
    return progress != nullptr && text_at(*progress, {"reason"}) == "Error";
  });
  const json::value failing = get_pod("p");
  EXPECT_EQ(text_at(*condition(failing, "PodResizeInProgress"), {"message"}),
            "attempting to set container \"c\" memory limit (104857600) below current usage "
            "(524288000)");
  EXPECT_EQ(text_at(status_of(failing), {"resources", "limits", "memory"}), "1Gi");
  metered.memory = 50u << 20;
  clock.advance(11s);
  follow("p", [](const json::value& pod) {
    return text_at(status_of(pod), {"resources", "limits", "memory"}) == "100Mi" &&
           condition(pod, "PodResizeInProgress") == nullptr;
  });
}

}  // namespace
}  // namespace plim::local::kubelet
