#include "sched/scheduling_queue.hpp"

#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "kube/interned.hpp"
#include "sched/vocabulary.hpp"

namespace plim::sched {
namespace {

using namespace std::chrono_literals;

kube::InternPool& pool() {
  static kube::InternPool made;
  return made;
}

struct PodParts {
  std::int64_t priority = 0;
  std::string_view gates = {};
  std::string_view label = {};
  std::int64_t generation = 1;
};

PodPointer make_pod(const std::string& name, PodParts parts = {}) {
  auto pod = std::make_shared<kube::Pod>();
  pod->meta.name = name;
  pod->meta.uid = name;
  pod->meta.generation = parts.generation;
  pod->spec.priority = parts.priority;
  pod->spec.scheduling_gates = pool()(parts.gates);
  if (!parts.label.empty()) pod->meta.labels.emplace_back(pool()("app"), pool()(parts.label));
  return pod;
}

std::optional<PluginId> gate(const kube::Pod& pod) {
  if (pod.spec.scheduling_gates.empty()) return std::nullopt;
  return PluginId::SchedulingGates;
}

const std::vector<PluginId> kNoCpu{PluginId::NodeResourcesFit};

class Waiting : public ::testing::Test {
 protected:
  // A whole second, so that truncation does not blur the tests.
  SteadyTime now_{1000s};
  SchedulingQueue queue_{QueueOptions{}, gate};

  std::string pop() {
    auto attempt = queue_.pop(now_);
    return attempt ? attempt->pod->meta.name : "";
  }

  ClusterEvent deletion() {
    return {.kind = EventKind::AssignedPodDelete, .pod = make_pod("other")};
  }
};

TEST_F(Waiting, pods_are_sorted_by_priority_then_by_age) {
  queue_.add(make_pod("a"), now_);
  queue_.add(make_pod("b", {.priority = 5}), now_ + 1s);
  queue_.add(make_pod("c"), now_ + 2s);
  EXPECT_EQ(pop(), "b");
  EXPECT_EQ(pop(), "a");
  EXPECT_EQ(pop(), "c");
  EXPECT_EQ(pop(), "");
}

TEST_F(Waiting, a_pod_without_cpu_waits_for_a_deletion_and_not_for_labels) {
  queue_.add(make_pod("a"), now_);
  pop();
  queue_.reject("a", kNoCpu, false, now_);
  EXPECT_EQ(queue_.counts().unschedulable, 1U);
  queue_.happened({.kind = EventKind::AssignedPodLabel, .pod = make_pod("b")}, now_);
  queue_.happened({.kind = EventKind::NodeLabel}, now_);
  EXPECT_EQ(queue_.counts().unschedulable, 1U);
  queue_.happened(deletion(), now_ + 100ms);
  EXPECT_EQ(queue_.counts().backoff, 1U);
  now_ += 1s;
  queue_.flush(now_);
  EXPECT_EQ(queue_.counts().active, 1U);
  EXPECT_EQ(pop(), "a");
}

TEST_F(Waiting, an_error_backs_off_twice_as_long_each_time) {
  queue_.add(make_pod("a"), now_);
  for (const auto wait : {1s, 2s, 4s, 8s, 10s, 10s}) {
    ASSERT_EQ(pop(), "a");
    queue_.fail("a", now_);
    EXPECT_EQ(queue_.next_flush(), now_ + wait);
    now_ += wait - 1ms;
    EXPECT_EQ(pop(), "");  // errors are not tried early
    now_ += 1ms;
  }
}

TEST_F(Waiting, a_back_off_ends_with_a_second_and_not_before_its_time) {
  now_ += 900ms;
  queue_.add(make_pod("a"), now_);
  queue_.add(make_pod("b", {.priority = 5}), now_);
  for (int pods = 0; pods < 2; ++pods) queue_.fail(pop(), now_);
  EXPECT_EQ(queue_.next_flush(), now_ + 1100ms);
  now_ += 1099ms;
  EXPECT_EQ(pop(), "");
  now_ += 1ms;
  EXPECT_EQ(pop(), "b");
}

TEST_F(Waiting, a_pod_that_has_not_failed_does_not_back_off) {
  now_ += 300ms;
  queue_.add(make_pod("a", {.gates = "[1]"}), now_);
  now_ += 100ms;
  queue_.update(make_pod("a", {.generation = 2}), now_);
  EXPECT_EQ(queue_.counts().active, 1U);
}

TEST_F(Waiting, the_delay_of_a_pod_begins_when_it_is_ready) {
  const SteadyTime created = now_;
  queue_.add(make_pod("a"), now_);
  queue_.add(make_pod("gated", {.gates = "[1]"}), now_);
  now_ += 5s;
  queue_.update(make_pod("gated", {.generation = 2}), now_);
  const SteadyTime opened = now_;
  now_ += 5s;
  EXPECT_EQ(queue_.pop(now_)->first_ready, created);
  queue_.reject("a", kNoCpu, false, now_);
  EXPECT_EQ(queue_.pop(now_)->first_ready, opened);
  queue_.happened(deletion(), now_);
  EXPECT_EQ(queue_.pop(now_)->first_ready, created);
}

TEST_F(Waiting, a_rejection_backs_off_as_long) {
  queue_.add(make_pod("a"), now_);
  for (const auto wait : {1s, 2s, 4s, 8s, 10s, 10s}) {
    ASSERT_EQ(pop(), "a");
    queue_.reject("a", kNoCpu, false, now_);
    queue_.happened(deletion(), now_);
    EXPECT_EQ(queue_.next_flush(), now_ + wait);
    now_ += wait;
  }
}

TEST_F(Waiting, a_rejected_pod_is_tried_early_if_no_other_waits) {
  queue_.add(make_pod("a"), now_);
  pop();
  queue_.reject("a", kNoCpu, false, now_);
  queue_.happened(deletion(), now_);
  EXPECT_EQ(queue_.counts().backoff, 1U);
  queue_.add(make_pod("b"), now_);
  EXPECT_EQ(pop(), "b");
  EXPECT_EQ(pop(), "a");
}

TEST_F(Waiting, a_rejection_without_a_plugin_only_backs_off) {
  queue_.add(make_pod("a"), now_);
  pop();
  queue_.reject("a", {}, false, now_);
  EXPECT_EQ(queue_.counts().backoff, 1U);
  EXPECT_EQ(pop(), "");
  now_ += 1s;
  EXPECT_EQ(pop(), "a");
}

TEST_F(Waiting, events_during_a_binding_are_not_kept) {
  queue_.add(make_pod("a"), now_);
  pop();
  queue_.assumed("a");
  queue_.happened(deletion(), now_);
  queue_.fail("a", now_);
  EXPECT_EQ(queue_.next_flush(), now_ + 1s);
  now_ += 1s;
  EXPECT_EQ(pop(), "a");
  queue_.assumed("a");
  queue_.done("a");
  EXPECT_FALSE(queue_.contains("a"));
}

TEST_F(Waiting, an_event_during_the_try_counts) {
  queue_.add(make_pod("a"), now_);
  queue_.add(make_pod("b"), now_);
  pop();
  queue_.happened(deletion(), now_);
  pop();  // for b the event was before its try
  queue_.reject("a", kNoCpu, false, now_);
  queue_.reject("b", kNoCpu, false, now_);
  EXPECT_EQ(queue_.counts().backoff, 1U);
  EXPECT_EQ(queue_.counts().unschedulable, 1U);
}

TEST_F(Waiting, a_gated_pod_waits_for_its_last_gate) {
  queue_.add(make_pod("a", {.gates = "[1,2]"}), now_);
  EXPECT_EQ(queue_.counts().gated, 1U);
  queue_.happened(deletion(), now_);
  queue_.update(make_pod("a", {.gates = "[1]", .generation = 2}), now_);
  EXPECT_EQ(queue_.counts().gated, 1U);
  EXPECT_EQ(pop(), "");
  queue_.update(make_pod("a", {.generation = 3}), now_);
  EXPECT_EQ(queue_.counts().gated, 0U);
  EXPECT_EQ(pop(), "a");
}

TEST(QueueMetrics, count_pods_by_the_queues_that_kube_scheduler_names) {
  std::vector<std::string> seen;
  SchedulingQueue queue(QueueOptions{}, gate, [&](std::string_view place, std::string_view event) {
    seen.push_back(fmt::format("{} {}", place, event));
  });
  const SteadyTime now{1000s};
  queue.add(make_pod("gated", {.gates = "[1]"}), now);
  queue.add(make_pod("a"), now);
  queue.pop(now);
  queue.fail("a", now);
  EXPECT_EQ(seen, (std::vector<std::string>{"unschedulable UnschedulablePodAdd",
                                            "active UnschedulablePodAdd",
                                            "backoff ScheduleAttemptFailure"}));
}

TEST_F(Waiting, an_event_for_less_important_pods_wakes_no_others) {
  queue_.add(make_pod("low"), now_);
  queue_.add(make_pod("high", {.priority = 9}), now_);
  for (auto name : {"high", "low"}) {
    ASSERT_EQ(pop(), name);
    queue_.reject(name, kNoCpu, false, now_);
  }
  ClusterEvent event = deletion();
  event.up_to_priority = 5;
  queue_.happened(event, now_);
  EXPECT_EQ(queue_.counts().unschedulable, 1U);
  EXPECT_EQ(pop(), "low");
}

// Pods for which others are being evicted.
class Preempting : public Waiting {
 protected:
  Preempting() {
    queue_.add(make_pod("a"), now_);
    pop();
    held_ = true;
    queue_.reject("a", kNoCpu, false, now_);
  }

  bool held_ = false;
  SchedulingQueue queue_{QueueOptions{}, [this](const kube::Pod&) -> std::optional<PluginId> {
                           if (!held_) return std::nullopt;
                           return PluginId::DefaultPreemption;
                         }};

  std::string pop() {
    auto attempt = queue_.pop(now_);
    return attempt ? attempt->pod->meta.name : "";
  }
};

TEST_F(Preempting, a_held_pod_is_tried_when_the_last_victim_is_gone) {
  EXPECT_EQ(queue_.counts().unschedulable, 1U);
  queue_.happened(deletion(), now_);
  EXPECT_EQ(queue_.counts().gated, 1U);
  EXPECT_EQ(pop(), "");
  held_ = false;
  queue_.happened(deletion(), now_);
  EXPECT_EQ(pop(), "a");
}

TEST_F(Preempting, events_while_a_pod_was_held_count_afterwards) {
  queue_.gate_opened("a", now_);  // nothing has happened yet
  EXPECT_EQ(queue_.counts().unschedulable, 1U);
  queue_.happened({.kind = EventKind::NodeAdd}, now_);
  queue_.gate_opened("a", now_);  // it has not
  EXPECT_EQ(queue_.counts().gated, 1U);
  held_ = false;
  queue_.gate_opened("a", now_);
  EXPECT_EQ(pop(), "a");
}

TEST_F(Preempting, a_victim_that_stays_lets_it_try_again_at_once) {
  queue_.activate("a", "ForceActivate");
  EXPECT_EQ(pop(), "");
  held_ = false;
  queue_.activate("a", "ForceActivate");
  EXPECT_EQ(queue_.counts().active, 1U);
  EXPECT_EQ(pop(), "a");
}

TEST_F(Waiting, five_minutes_are_enough) {
  queue_.add(make_pod("a"), now_);
  pop();
  queue_.reject("a", kNoCpu, false, now_);
  now_ += 4min;
  EXPECT_EQ(pop(), "");
  now_ += 1min + 31s;
  EXPECT_EQ(pop(), "a");
}

TEST_F(Waiting, a_pod_removed_during_its_try_does_not_come_back) {
  queue_.add(make_pod("a"), now_);
  pop();
  queue_.remove("a");
  queue_.fail("a", now_);
  EXPECT_FALSE(queue_.contains("a"));
  EXPECT_EQ(queue_.next_flush(), std::nullopt);
}

TEST_F(Waiting, a_pod_rejected_by_an_extender_is_tried_after_any_event) {
  queue_.add(make_pod("a"), now_);
  pop();
  queue_.reject("a", {}, true, now_);
  EXPECT_EQ(queue_.counts().unschedulable, 1U);
  queue_.happened({.kind = EventKind::NodeLabel}, now_);
  EXPECT_EQ(queue_.counts().unschedulable, 0U);
}

// Whatever happens, every pod is in exactly one place, and all come out again in the end.
TEST_F(Waiting, no_pod_is_lost) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SeededRandom random(seed);
    SchedulingQueue queue(QueueOptions{}, gate);
    std::map<std::string, bool> pods;  // true: in flight
    SteadyTime now{1000s};
    for (int step = 0; step < 300; ++step) {
      now += std::chrono::milliseconds(random.below(700));
      const std::string name = fmt::format("p{}", random.below(12));
      switch (random.below(8)) {
        case 0:
          queue.add(make_pod(name, {.gates = random.below(4) == 0 ? "[1]" : ""}), now);
          pods.try_emplace(name, false);
          break;
        case 1:
          if (pods.contains(name)) queue.update(make_pod(name, {.generation = step}), now);
          break;
        case 2:
          queue.remove(name);
          if (pods.contains(name) && !pods[name]) pods.erase(name);
          break;
        case 3:
        case 4:
          if (auto attempt = queue.pop(now)) {
            ASSERT_TRUE(pods.contains(attempt->pod->meta.name));
            ASSERT_FALSE(pods[attempt->pod->meta.name]);
            pods[attempt->pod->meta.name] = true;
          }
          break;
        case 5:
          if (!pods.contains(name) || !pods[name]) break;
          queue.reject(name, random.below(2) == 0 ? kNoCpu : std::vector<PluginId>{}, false, now);
          if (queue.contains(name))
            pods[name] = false;
          else
            pods.erase(name);
          break;
        case 6:
          if (!pods.contains(name) || !pods[name]) break;
          queue.fail(name, now);
          if (queue.contains(name))
            pods[name] = false;
          else
            pods.erase(name);
          break;
        default:
          queue.happened(deletion(), now);
      }
      const QueueCounts counts = queue.counts();
      const auto flying = std::ranges::count_if(pods, [](const auto& pod) { return pod.second; });
      ASSERT_EQ(counts.active + counts.backoff + counts.unschedulable + counts.gated +
                    static_cast<std::size_t>(flying),
                pods.size());
    }
  }
}

TEST(Lanes, pods_with_extenders_do_not_delay_others) {
  SchedulingQueue queue(QueueOptions{}, gate, {}, {}, [](const kube::Pod& pod) {
    return pod.meta.name.starts_with("ask") ? Lane::asking : Lane::quick;
  });
  const SteadyTime now{1000s};
  queue.add(make_pod("ask1", {.priority = 2}), now);
  queue.add(make_pod("ask2", {.priority = 1}), now);
  queue.add(make_pod("a"), now);
  EXPECT_EQ(queue.counts().active, 3U);
  EXPECT_EQ(queue.pop(now)->pod->meta.name, "ask1");
  EXPECT_EQ(queue.pop(now, PopFrom::quick_lane)->pod->meta.name, "a");
  EXPECT_FALSE(queue.pop(now, PopFrom::quick_lane));
  queue.add(make_pod("b"), now);
  EXPECT_EQ(queue.pop(now)->pod->meta.name, "ask2");
  EXPECT_EQ(queue.pop(now)->pod->meta.name, "b");
}

TEST(Lanes, change_with_their_rules) {
  Lane lane = Lane::asking;
  SchedulingQueue queue(QueueOptions{}, gate, {}, {}, [&](const kube::Pod&) { return lane; });
  const SteadyTime now{1000s};
  queue.add(make_pod("a"), now);
  EXPECT_FALSE(queue.pop(now, PopFrom::quick_lane));
  lane = Lane::quick;
  queue.activate_all("ForceActivate", now);
  EXPECT_TRUE(queue.pop(now, PopFrom::quick_lane));
}

TEST_F(Waiting, a_long_try_sees_what_happened_since_it_began_and_no_more) {
  queue_.add(make_pod("long"), now_);
  queue_.add(make_pod("short"), now_);
  EXPECT_EQ(pop(), "long");
  queue_.happened(deletion(), now_);
  EXPECT_EQ(pop(), "short");
  queue_.reject("short", kNoCpu, false, now_);
  EXPECT_EQ(queue_.counts().unschedulable, 1U);
  queue_.reject("long", kNoCpu, false, now_);
  EXPECT_EQ(queue_.counts().unschedulable, 1U);
  EXPECT_EQ(queue_.counts().backoff, 1U);
}

}  // namespace
}  // namespace plim::sched
