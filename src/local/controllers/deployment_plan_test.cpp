#include "local/controllers/deployment_plan.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.hpp"
#include "local/controllers/conditions.hpp"
#include "local/controllers/testing/sample_objects.hpp"

namespace plim::local::controllers {
namespace {

using testing::at;
using testing::object_from;

// A Deployment, its ReplicaSets, and a fake controller of these that changes pods at random.
class DeploymentWorld {
 public:
  explicit DeploymentWorld(std::string_view deployment) {
    auto parsed = parse_json(deployment);
    PLIM_ASSERT(parsed);
    deployment_ = std::move(*parsed);
    json::object& metadata = make_object(deployment_, {"metadata"});
    metadata["name"] = "web";
    metadata["namespace"] = "shop";
    metadata["uid"] = "d1";
    metadata["generation"] = 1;
    json::object& spec = make_object(deployment_, {"spec"});
    spec["selector"] = {{"matchLabels", {{"app", "web"}}}};
    if (!spec.contains("progressDeadlineSeconds")) spec["progressDeadlineSeconds"] = 600;
    set_image("v1");
  }

  void set_image(std::string_view image) {
    json::object container{{"name", "c"}, {"image", image}};
    make_object(deployment_, {"spec"})["template"] = {
        {"metadata", {{"labels", {{"app", "web"}}}}},
        {"spec", {{"containers", json::array{container}}}}};
    bump();
  }

  void set_spec(std::string_view field, const json::value& value) {
    make_object(deployment_, {"spec"})[field] = value;
    bump();
  }

  DeploymentPlan plan() const {
    DeploymentInput input;
    input.deployment = object_from(deployment_);
    for (const auto& [name, set] : sets_) input.sets.push_back(object_from(set));
    input.old_pods_running = old_pods_running;
    return plan_deployment(input, now);
  }

  DeploymentPlan step() {
    DeploymentPlan out = plan();
    if (out.create) {
      json::value set = out.create->object;
      json::object& metadata = make_object(set, {"metadata"});
      metadata["uid"] = fmt::format("rs{}", sets_.size());
      metadata["creationTimestamp"] = format_rfc3339(now);
      metadata["generation"] = 1;
      sets_[std::string(kube::name_of(set))] = set;
    }
    for (const SetChange& change : out.update)
      sets_[std::string(kube::name_of(change.object))] = change.object;
    for (const ObjectPointer& set : out.remove) sets_.erase(set->meta.name);
    deployment_.as_object()["status"] = out.status;
    if (!out.revision.empty())
      make_object(deployment_, {"metadata", "annotations"})["deployment.kubernetes.io/revision"] =
          out.revision;
    now += std::chrono::seconds(1);
    return out;
  }

  // A set that shrinks loses unready pods first; `luck` returns how many new ones become available.
  void run_sets(const std::function<std::int64_t(std::int64_t missing)>& luck) {
    for (auto& [name, set] : sets_) {
      const std::int64_t wanted = *int_at(set, {"spec", "replicas"});
      std::int64_t available = int_at(set, {"status", "availableReplicas"}).value_or(0);
      available = std::min(available, wanted);
      available += luck(wanted - available);
      set.as_object()["status"] = {{"replicas", wanted},
                                   {"readyReplicas", available},
                                   {"availableReplicas", available},
                                   {"observedGeneration", 1}};
    }
  }

  std::int64_t sum(std::initializer_list<std::string_view> path) const {
    std::int64_t out = 0;
    for (const auto& [name, set] : sets_) out += int_at(set, path).value_or(0);
    return out;
  }

  std::int64_t wanted() const { return sum({"spec", "replicas"}); }

  std::int64_t available() const { return sum({"status", "availableReplicas"}); }

  std::string progress() const {
    const json::object* found = find_condition(deployment_.at("status"), "Progressing");
    return found ? std::string(text_at(json::value(*found), {"reason"})) : "";
  }

  bool done() const {
    for (const auto& [name, set] : sets_) {
      const bool current =
          text_at(image_of(set), {"image"}) == text_at(image_of(deployment_), {"image"});
      const std::int64_t replicas = *int_at(deployment_, {"spec", "replicas"});
      if (*int_at(set, {"spec", "replicas"}) != (current ? replicas : 0)) return false;
    }
    return progress() == "NewReplicaSetAvailable";
  }

  const std::map<std::string, json::value>& sets() const { return sets_; }

  const json::value& deployment() const { return deployment_; }

  bool old_pods_running = false;
  WallTime now = at("2026-01-01T12:00:00Z");

 private:
  static const json::value& image_of(const json::value& object) {
    return object.at("spec").at("template").at("spec").at("containers").at(0);
  }

  void bump() {
    json::object& metadata = make_object(deployment_, {"metadata"});
    metadata["generation"] = metadata["generation"].as_int64() + 1;
  }

  json::value deployment_;
  std::map<std::string, json::value> sets_;
};

std::int64_t all_of(std::int64_t missing) {
  return missing;
}

std::int64_t none_of(std::int64_t) {
  return 0;
}

TEST(DeploymentPlan, creates_a_replica_set_labeled_with_the_hash_of_its_template) {
  DeploymentWorld world(R"({"spec":{"replicas":3}})");
  DeploymentPlan plan = world.step();
  ASSERT_TRUE(plan.create);
  const json::value& set = plan.create->object;
  const std::string hash(kube::label_of(set, "pod-template-hash"));
  EXPECT_GE(hash.size(), 1u);
  EXPECT_EQ(kube::name_of(set), "web-" + hash);
  EXPECT_EQ(text_at(set, {"spec", "selector", "matchLabels", "pod-template-hash"}), hash);
  EXPECT_EQ(text_at(set, {"spec", "template", "metadata", "labels", "pod-template-hash"}), hash);
  EXPECT_EQ(int_at(set, {"spec", "replicas"}), 3);
  EXPECT_EQ(kube::annotation_of(set, "deployment.kubernetes.io/desired-replicas"), "3");
  EXPECT_EQ(kube::annotation_of(set, "deployment.kubernetes.io/max-replicas"), "4");
  EXPECT_EQ(kube::annotation_of(set, "deployment.kubernetes.io/revision"), "1");
  EXPECT_TRUE(kube::is_controlled_by(set, "d1"));
  EXPECT_EQ(plan.create->note, fmt::format("Scaled up replica set web-{} from 0 to 3", hash));
  EXPECT_EQ(plan.revision, "1");
  EXPECT_EQ(world.progress(), "NewReplicaSetCreated");
  EXPECT_FALSE(has_true_condition(plan.status, "Available"));
}

TEST(DeploymentPlan, reports_completion_and_then_writes_nothing) {
  DeploymentWorld world(R"({"spec":{"replicas":3}})");
  world.step();
  world.run_sets(all_of);
  DeploymentPlan plan = world.step();
  EXPECT_TRUE(has_true_condition(plan.status, "Available"));
  EXPECT_EQ(world.progress(), "NewReplicaSetAvailable");
  EXPECT_EQ(int_at(plan.status, {"availableReplicas"}), 3);
  EXPECT_FALSE(find(plan.status, {"unavailableReplicas"}));
  DeploymentPlan rest = world.step();
  EXPECT_EQ(rest.status, plan.status);
  EXPECT_TRUE(!rest.create && rest.update.empty() && rest.remove.empty());
}

TEST(DeploymentPlan, rolls_within_its_bounds) {
  DeploymentWorld world(R"({"spec":{"replicas":10}})");
  world.step();
  world.run_sets(all_of);
  world.step();
  world.set_image("v2");
  DeploymentPlan first = world.step();
  ASSERT_TRUE(first.create);
  EXPECT_EQ(int_at(first.create->object, {"spec", "replicas"}), 3);  // 25 % of 10, rounded up
  ASSERT_EQ(first.update.size(), 1u);
  EXPECT_EQ(int_at(first.update[0].object, {"spec", "replicas"}), 8);  // 25 %, rounded down
  for (int i = 0; i < 20 && !world.done(); ++i) {
    world.run_sets(all_of);
    world.step();
  }
  EXPECT_TRUE(world.done());
  EXPECT_EQ(kube::annotation_of(world.deployment(), "deployment.kubernetes.io/revision"), "2");
}

TEST(DeploymentPlan, a_rollout_that_never_works_keeps_enough_old_pods_and_times_out) {
  DeploymentWorld world(R"({"spec":{"replicas":10}})");
  world.step();
  world.run_sets(all_of);
  world.step();
  world.set_image("broken");
  for (int i = 0; i < 10; ++i) {
    world.step();
    world.run_sets(none_of);
  }
  EXPECT_EQ(world.available(), 8);
  EXPECT_EQ(world.wanted(), 13);
  world.now += std::chrono::seconds(700);
  world.step();
  EXPECT_EQ(world.progress(), "ProgressDeadlineExceeded");
}

TEST(DeploymentPlan, does_not_requeue_at_once_when_pods_are_missing_long_after_the_rollout) {
  DeploymentWorld world(R"({"spec":{"replicas":2}})");
  for (int i = 0; i < 4; ++i) {
    world.step();
    world.run_sets(all_of);
  }
  ASSERT_TRUE(world.done());
  world.now += std::chrono::seconds(700);
  world.run_sets([](std::int64_t) { return -2; });
  ASSERT_EQ(world.available(), 0);
  EXPECT_GT(world.plan().look_again.value_or(WallTime::max()), world.now);
}

TEST(DeploymentPlan, a_rollback_reuses_the_old_set_with_a_new_revision) {
  DeploymentWorld world(R"({"spec":{"replicas":1}})");
  for (const char* image : {"v1", "v2", "v1"}) {
    world.set_image(image);
    for (int i = 0; i < 10; ++i) {
      world.step();
      world.run_sets(all_of);
    }
    EXPECT_TRUE(world.done());
  }
  ASSERT_EQ(world.sets().size(), 2u);
  EXPECT_EQ(kube::annotation_of(world.deployment(), "deployment.kubernetes.io/revision"), "3");
  std::vector<std::string> histories;
  for (const auto& [name, set] : world.sets())
    histories.emplace_back(kube::annotation_of(set, "deployment.kubernetes.io/revision-history"));
  EXPECT_NE(std::find(histories.begin(), histories.end(), "1"), histories.end());
}

TEST(DeploymentPlan, keeps_no_more_history_than_asked) {
  DeploymentWorld world(R"({"spec":{"replicas":1,"revisionHistoryLimit":2}})");
  for (int version = 1; version <= 6; ++version) {
    world.set_image(fmt::format("v{}", version));
    for (int i = 0; i < 10; ++i) {
      world.step();
      world.run_sets(all_of);
    }
  }
  EXPECT_EQ(world.sets().size(), 3u);
}

TEST(DeploymentPlan, recreate_waits_for_the_last_old_pod) {
  DeploymentWorld world(R"({"spec":{"replicas":4,"strategy":{"type":"Recreate"}}})");
  world.step();
  world.run_sets(all_of);
  world.step();
  world.set_image("v2");
  world.old_pods_running = true;
  world.step();
  EXPECT_EQ(world.wanted(), 0);
  world.step();
  EXPECT_EQ(world.sets().size(), 1u);
  world.old_pods_running = false;
  world.run_sets(all_of);
  world.step();
  EXPECT_EQ(world.sets().size(), 2u);
  EXPECT_EQ(world.wanted(), 4);
}

TEST(DeploymentPlan, pausing_stops_the_rollout_but_not_scaling) {
  DeploymentWorld world(R"({"spec":{"replicas":4}})");
  world.step();
  world.run_sets(all_of);
  world.step();
  world.set_spec("paused", true);
  world.set_image("v2");
  world.step();
  EXPECT_EQ(world.sets().size(), 1u);
  EXPECT_EQ(world.progress(), "DeploymentPaused");
  world.set_spec("replicas", 6);
  world.step();
  EXPECT_EQ(world.wanted(), 6);
  world.set_spec("paused", false);
  world.step();
  EXPECT_EQ(world.sets().size(), 2u);
}

TEST(DeploymentPlan, scaling_during_a_rollout_is_shared_among_the_sets) {
  DeploymentWorld world(R"({"spec":{"replicas":10}})");
  world.step();
  world.run_sets(all_of);
  world.step();
  world.set_image("v2");
  world.step();  // 8 old, 3 + 2 new at most
  world.run_sets(none_of);
  world.step();
  world.run_sets(none_of);
  const std::int64_t before = world.wanted();
  EXPECT_EQ(before, 13);
  world.set_spec("replicas", 20);
  world.step();
  EXPECT_EQ(world.wanted(), 25);
  for (const auto& [name, set] : world.sets()) EXPECT_GT(*int_at(set, {"spec", "replicas"}), 5);
}

RC_GTEST_PROP(DeploymentPlan, never_leaves_its_bounds_and_always_arrives,
              (std::uint8_t replicas, std::uint8_t surge, std::uint8_t unavailable,
               std::uint64_t seed)) {
  const int wanted = replicas % 12;
  DeploymentWorld world(fmt::format(
      R"({{"spec":{{"replicas":{},"strategy":{{"type":"RollingUpdate","rollingUpdate":
         {{"maxSurge":{},"maxUnavailable":"{}%"}}}}}}}})",
      wanted, surge % 8, unavailable % 101));
  const std::int64_t up = surge % 8;
  std::int64_t down = std::int64_t{wanted} * (unavailable % 101) / 100;
  if (up == 0 && down == 0) down = 1;
  SeededRandom random(seed);
  auto luck = [&](std::int64_t missing) {
    return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(missing) + 1));
  };
  for (int i = 0; i < 20; ++i) {
    if (random.below(15) == 0) world.set_image(fmt::format("v{}", random.below(4)));
    const std::int64_t total = world.wanted();
    const std::int64_t available = world.available();
    world.step();
    RC_ASSERT(world.wanted() <= std::max(total, wanted + up));
    world.run_sets(none_of);  // only the pods that had to go are gone now
    RC_ASSERT(world.available() >= std::min(available, wanted - down));
    world.run_sets(luck);
  }
  for (int i = 0; i < 45; ++i) {
    world.step();
    world.run_sets(all_of);
  }
  world.step();
  RC_ASSERT(world.done());
}

RC_GTEST_PROP(DeploymentPlan, scaling_at_any_moment_arrives_too, (std::uint64_t seed)) {
  SeededRandom random(seed);
  DeploymentWorld world(R"({"spec":{"replicas":5}})");
  auto luck = [&](std::int64_t missing) {
    return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(missing) + 1));
  };
  for (int i = 0; i < 20; ++i) {
    if (random.below(10) == 0) world.set_image(fmt::format("v{}", random.below(3)));
    if (random.below(10) == 0)
      world.set_spec("replicas", static_cast<std::int64_t>(random.below(15)));
    world.step();
    world.run_sets(luck);
  }
  for (int i = 0; i < 30; ++i) {
    world.step();
    world.run_sets(all_of);
  }
  world.step();
  RC_ASSERT(world.done());
}

}  // namespace
}  // namespace plim::local::controllers
