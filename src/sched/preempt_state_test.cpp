// How the queue and decisions handle a pod for which others are evicted.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "placement/testing/objects.hpp"
#include "sched/scheduler_state.hpp"

namespace plim::sched {
namespace {

using placement::testing::plain_node;
using placement::testing::pod_of;

const std::vector<PluginId> kLacksCpu{PluginId::NodeResourcesFit};

struct Wanted {
  std::string name;
  int priority = 0;
  std::string node = "''";
  std::string nominated = "''";
  bool leaves = false;
};

PodPointer wanted(const Wanted& pod) {
  return pod_of(fmt::format(
      "{{metadata: {{name: {0}, uid: {0}{1}}}, spec: {{schedulerName: default-scheduler, priority: "
      "{2}, nodeName: {3}, containers: [{{name: c, resources: {{requests: {{cpu: 2}}}}}}]}}, "
      "status: {{nominatedNodeName: {4}}}}}",
      pod.name, pod.leaves ? ", deletionTimestamp: '2026-01-01T00:00:00Z'" : "", pod.priority,
      pod.node, pod.nominated));
}

class MakingRoom : public ::testing::Test {
 protected:
  MakingRoom() {
    state_.node_changed(nullptr, std::make_shared<const kube::Node>(plain_node("a")));
    for (const PodPointer& victim : victims_) state_.pod_changed(nullptr, victim);
    state_.pod_changed(nullptr, great_);
    pop();
    yielded_ = state_.make_room(great_, "a", victims_);
    state_.queue().reject("great", kLacksCpu, false, clock_.steady());
  }

  std::string pop() {
    auto attempt = state_.queue().pop(clock_.steady());
    return attempt ? attempt->pod->meta.name : "";
  }

  FakeClock clock_;
  SchedulerState state_{{.config = std::make_shared<const Configuration>(default_configuration())},
                        {},
                        {},
                        {.on_change = [] {}},
                        clock_};
  PodPointer great_ = wanted({.name = "great", .priority = 9});
  std::vector<PodPointer> victims_{wanted({.name = "v1", .node = "a"}),
                                   wanted({.name = "v2", .node = "a"})};
  std::vector<PodPointer> yielded_;
};

TEST_F(MakingRoom, tries_the_preemptor_when_the_last_victim_is_gone) {
  state_.pod_gone(victims_[0]);
  EXPECT_EQ(pop(), "");
  state_.pod_gone(victims_[1]);
  EXPECT_EQ(pop(), "great");
}

TEST_F(MakingRoom, waits_for_victims_that_terminate_slowly) {
  for (auto name : {"v1", "v2"})
    state_.pod_changed(wanted({.name = name, .node = "a"}),
                       wanted({.name = name, .node = "a", .leaves = true}));
  EXPECT_EQ(pop(), "");
  EXPECT_EQ(state_.queue().counts().unschedulable, 1u);
  state_.pod_gone(victims_[0]);  // it may be tried again, since all victims are being deleted
  EXPECT_EQ(pop(), "great");
}

TEST_F(MakingRoom, tries_again_if_a_victim_stays) {
  state_.pod_gone(victims_[0]);
  EXPECT_EQ(pop(), "");
  state_.victim_stays("great");
  EXPECT_EQ(pop(), "great");
}

TEST_F(MakingRoom, no_pod_is_tried_if_the_preemptor_is_gone) {
  state_.pod_gone(great_);
  state_.pod_gone(victims_[0]);
  EXPECT_EQ(pop(), "");
}

TEST_F(MakingRoom, pods_that_lose_their_nomination_are_tried_again) {
  PodPointer low = wanted({.name = "low", .priority = 5});
  state_.pod_changed(nullptr, low);
  EXPECT_EQ(pop(), "low");
  PodPointer nominated = wanted({.name = "low", .priority = 5, .nominated = "a"});
  state_.pod_changed(low, nominated);
  state_.queue().reject("low", kLacksCpu, false, clock_.steady());
  auto yielding = state_.make_room(great_, "a", victims_);
  ASSERT_EQ(yielding.size(), 1u);
  EXPECT_EQ(yielding[0]->meta.name, "low");
  EXPECT_TRUE(yielded_.empty());
  state_.pod_changed(nominated, low);
  EXPECT_EQ(pop(), "low");  // and not "great", which it did not block
  EXPECT_EQ(pop(), "");
}

}  // namespace
}  // namespace plim::sched
