#include "sched/scheduler_state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/exposition.hpp"
#include "placement/testing/objects.hpp"
#include "sched/cache_check.hpp"
#include "sched/resource_metrics.hpp"
#include "sched/scheduler_metrics.hpp"

namespace plim::sched {
namespace {

using placement::testing::plain_node;
using placement::testing::plain_pod;
using placement::testing::pod_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class StateTest : public ::testing::Test {
 protected:
  static StateOptions options() {
    return {.config = std::make_shared<const Configuration>(default_configuration())};
  }

  SchedulerState make(StateOptions options) {
    return SchedulerState(std::move(options), {}, {},
                          {.on_change = [this] { ++changes_; },
                           .on_event = [this](EventKind kind, Nanos) { events_.push_back(kind); }},
                          clock_);
  }

  // As a watch event.
  PodPointer waiting(std::string_view name, std::string_view spec = "") {
    return pod_of("{metadata: {name: " + std::string(name) +
                  "}, spec: {schedulerName: default-scheduler, containers: [{name: c}]" +
                  std::string(spec) + "}}");
  }

  FakeClock clock_;
  int changes_ = 0;
  std::vector<EventKind> events_;
};

TEST_F(StateTest, an_assumed_pod_counts_until_it_is_forgotten) {
  SchedulerState state = make(options());
  state.node_changed(nullptr, std::make_shared<const kube::Node>(plain_node("a")));
  const PodPointer pod = waiting("p");
  state.pod_changed(nullptr, pod);
  ASSERT_TRUE(state.queue().pop(clock_.steady()));
  state.assume(pod, "a");
  EXPECT_TRUE(state.is_assumed(pod->meta.uid));
  EXPECT_EQ(state.engine().pod_count(), 1U);
  state.forget(pod);
  EXPECT_FALSE(state.is_assumed(pod->meta.uid));
  EXPECT_EQ(state.engine().pod_count(), 0U);
  EXPECT_THAT(events_, ElementsAre(EventKind::NodeAdd, EventKind::AssignedPodDelete));
}

TEST_F(StateTest, a_pod_that_changes_while_it_is_bound_is_tried_with_the_change) {
  SchedulerState state = make(options());
  state.node_changed(nullptr, std::make_shared<const kube::Node>(plain_node("a")));
  const PodPointer pod = waiting("p");
  state.pod_changed(nullptr, pod);
  ASSERT_TRUE(state.queue().pop(clock_.steady()));
  state.assume(pod, "a");
  kube::Pod changed = *pod;
  changed.meta.deleted = clock_.wall();
  const auto deleted = std::make_shared<const kube::Pod>(std::move(changed));
  state.pod_changed(pod, deleted);
  EXPECT_TRUE(state.is_assumed(pod->meta.uid));
  state.forget(deleted);
  state.queue().fail(pod->meta.uid, clock_.steady());
  clock_.advance(std::chrono::seconds(2));
  const auto again = state.queue().pop(clock_.steady());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->pod, deleted);

  // A pod whose binding succeeded does not wait.
  state.assume(deleted, "a");
  state.queue().done(pod->meta.uid);
  state.pod_changed(deleted, pod);
  EXPECT_FALSE(state.queue().contains(pod->meta.uid));
}

TEST_F(StateTest, nominations_count_only_for_pods_of_this_scheduler) {
  SchedulerState state = make(options());
  state.node_changed(nullptr, std::make_shared<const kube::Node>(plain_node("a")));
  const PodPointer pod = pod_of(
      "{metadata: {name: p}, spec: {schedulerName: default-scheduler, containers: [{name: c}]}, "
      "status: {nominatedNodeName: a}}");
  kube::Store<kube::Pod> pods;
  pods.put(kube::object_key(pod->meta), pod);
  state.pod_changed(nullptr, pod);
  const auto promised = [&] { return state.engine().cluster().nominated_node(pod->meta.uid); };
  EXPECT_EQ(promised(), "a");
  Configuration other = default_configuration();
  other.profiles[0].profile.scheduler_name = "another";
  state.set_config(std::make_shared<const Configuration>(std::move(other)), pods);
  EXPECT_EQ(promised(), "");
  state.set_config(options().config, pods);
  EXPECT_EQ(promised(), "a");
  EXPECT_TRUE(state.queue().contains(pod->meta.uid));
}

TEST_F(StateTest, pods_with_claims_may_be_left_to_others) {
  const PodPointer claims = waiting("p", ", resourceClaims: [{name: gpu}]");
  SchedulerState ours = make(options());
  EXPECT_TRUE(ours.is_ours(*claims));
  StateOptions deferring = options();
  deferring.defer_claims = true;
  SchedulerState theirs = make(std::move(deferring));
  theirs.pod_changed(nullptr, claims);
  EXPECT_FALSE(theirs.queue().contains(claims->meta.uid));
  EXPECT_TRUE(theirs.is_ours(*waiting("q")));
}

TEST_F(StateTest, the_cache_is_compared_with_a_list) {
  SchedulerState state = make(options());
  ListedCluster listed;
  for (const char* name : {"a", "b"}) {
    listed.nodes.insert(name);
    state.node_changed(nullptr, std::make_shared<const kube::Node>(plain_node(name)));
  }
  const PodPointer pod = waiting("p");
  listed.add(*pod, state);
  state.pod_changed(nullptr, pod);
  // The scheduler does not have to know either of these.
  listed.add(*pod_of("{metadata: {name: o}, spec: {schedulerName: o, containers: [{name: c}]}}"),
             state);
  kube::Pod leaving = *waiting("leaving");
  leaving.meta.deleted = clock_.wall();
  listed.add(leaving, state);
  EXPECT_TRUE(compare_cache(state, listed).none());
  listed.nodes.erase("b");
  listed.nodes.insert("c");
  const PodPointer unheard = waiting("unheard");
  listed.add(*unheard, state);
  const PodPointer ghost = plain_pod("ghost");
  state.engine().set_pod(ghost, "a");
  const CacheDifference found = compare_cache(state, listed);
  EXPECT_THAT(found.missed_nodes, ElementsAre("c"));
  EXPECT_THAT(found.redundant_nodes, ElementsAre("b"));
  EXPECT_THAT(found.missed_pods, ElementsAre(unheard->meta.uid));
  EXPECT_THAT(found.redundant_pods, ElementsAre(ghost->meta.uid));
  // A difference that a second list does not show was only a delay.
  state.pod_changed(nullptr, unheard);
  const CacheDifference stays = common(found, compare_cache(state, listed));
  EXPECT_THAT(stays.missed_pods, ElementsAre());
  EXPECT_THAT(stays.redundant_pods, ElementsAre(ghost->meta.uid));
  EXPECT_FALSE(stays.none());
}

TEST_F(StateTest, metrics_show_which_plugin_rejected_waiting_pods) {
  SchedulerState state = make(options());
  const PodPointer pod = waiting("p");
  state.pod_changed(nullptr, pod);
  ASSERT_TRUE(state.queue().pop(clock_.steady()));
  state.queue().reject(pod->meta.uid, {PluginId::NodeResourcesFit}, true, clock_.steady());
  metrics::Exposition out;
  SchedulerMetrics::collect(state.queue(), state.engine(), clock_.wall(), out);
  EXPECT_THAT(
      out.text(),
      HasSubstr("scheduler_unschedulable_pods{plugin=\"NodeResourcesFit\",profile=\"default-"
                "scheduler\"} 1\n"));
  EXPECT_THAT(out.text(), HasSubstr("{plugin=\"Extender\",profile=\"default-scheduler\"} 1\n"));
}

TEST(ResourceMetrics, are_sums_over_the_whole_pod) {
  kube::Store<kube::Pod> pods;
  pods.put("d/p", pod_of(R"({metadata: {name: p, namespace: d}, spec: {
    schedulerName: s, priority: 5, nodeName: n1, overhead: {memory: 1Mi, cpu: 1},
    initContainers: [{name: i, resources: {requests: {cpu: 3}}}],
    containers: [{name: a, resources: {requests: {cpu: 500m}, limits: {memory: 2Mi}}},
                 {name: b, resources: {requests: {cpu: 500m, example.com/x: 0}}}]}})"));
  const std::string text = expose_pod_resources(pods);
  const std::string pod =
      "{namespace=\"d\",pod=\"p\",node=\"n1\",scheduler=\"s\",priority=\"5\",resource=";
  EXPECT_THAT(text, HasSubstr("kube_pod_resource_request" + pod + "\"cpu\",unit=\"cores\"} 4\n"));
  EXPECT_THAT(
      text, HasSubstr("kube_pod_resource_request" + pod + "\"memory\",unit=\"bytes\"} 1048576\n"));
  EXPECT_THAT(text,
              HasSubstr("kube_pod_resource_limit" + pod + "\"memory\",unit=\"bytes\"} 3145728\n"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("example.com/x")));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("kube_pod_resource_limit" + pod + "\"cpu\"")));
}

TEST(PluginMetrics, measure_every_step_and_one_of_ten_decisions_by_plugin) {
  metrics::Registry registry;
  PluginMetrics plugins(registry);
  Engine engine;
  for (const char* name : {"a", "b"}) engine.set_node(plain_node(name));
  int by_plugin = 0;
  for (int i = 0; i < 20; ++i) {
    const bool drawn = plugins.draw();
    by_plugin += drawn ? 1 : 0;
    placement::DecisionTimes times(system_clock(), drawn);
    DecideOptions options;
    options.times = &times;
    const Decision decision = engine.decide(*plain_pod("p"), placement::default_profile(), options);
    plugins.decided("s", times, decision);
    EXPECT_EQ(times.plugins().empty(), !drawn);
  }
  EXPECT_EQ(by_plugin, 2);
  const std::string text = registry.expose();
  EXPECT_THAT(text,
              HasSubstr("scheduler_framework_extension_point_duration_seconds_count{extension_"
                        "point=\"Filter\",status=\"Success\",profile=\"s\"} 20\n"));
  EXPECT_THAT(text, HasSubstr("scheduler_plugin_evaluation_total{plugin=\"NodeResourcesFit\","
                              "extension_point=\"Score\",profile=\"s\"} 20\n"));
  EXPECT_THAT(
      text,
      HasSubstr("scheduler_plugin_execution_duration_seconds_count{plugin=\"NodeResourcesFit\""
                ",extension_point=\"Filter\",status=\"Success\"}"));
}

}  // namespace
}  // namespace plim::sched
