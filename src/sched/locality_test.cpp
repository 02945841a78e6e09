#include "sched/locality.hpp"

#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sched/engine.hpp"
#include "sched/testing/objects.hpp"

namespace plim::sched {
namespace {

using testing::decide_all;
using testing::node_of;
using testing::plain_node;
using testing::pod_of;
using testing::score_of;

constexpr auto kLocality = PluginId::ImageLocality;
constexpr std::string_view kDigest =
    "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

kube::Node holding(std::string_view name, std::string_view image, std::int64_t bytes) {
  return node_of(
      fmt::format("{{metadata: {{name: {}}}, status: {{allocatable: {{cpu: 4, memory: 8Gi, pods: "
                  "110}}, images: "
                  "[{{names: ['{}'], sizeBytes: {}}}]}}}}",
                  name, image, bytes));
}

PodPointer running(std::string_view image, std::string_view init = "") {
  std::string before =
      init.empty() ? "" : fmt::format("initContainers: [{{name: i, image: '{}'}}], ", init);
  return pod_of(
      fmt::format("{{metadata: {{name: p}}, spec: {{{}containers: [{{name: c, image: '{}'}}]}}}}",
                  before, image));
}

Profile only_locality(LocalityMode mode) {
  Profile out = default_profile();
  out.score = {{kLocality, 1000}};
  out.locality.mode = mode;
  return out;
}

// `count` nodes, the first `holders` of which have the image.
Engine spread_over(int count, int holders, std::string_view image, std::int64_t bytes) {
  Engine out;
  for (int i = 0; i < count; ++i) {
    std::string name = fmt::format("n{}", i);
    out.set_node(i < holders ? holding(name, image, bytes) : plain_node(name));
  }
  return out;
}

std::int64_t compat(int count, int holders, std::int64_t bytes) {
  auto engine = spread_over(count, holders, "app:1", bytes);
  return score_of(decide_all(engine, running("app:1"), only_locality(LocalityMode::Compat)), "n0",
                  kLocality);
}

TEST(LocalityCompat, scales_by_spread_between_floor_and_ceiling) {
  EXPECT_EQ(compat(4, 3, 300000000), 19);
  EXPECT_EQ(compat(10, 8, 4090000000), 100);
  EXPECT_EQ(compat(4, 1, 137447343), 0);
  EXPECT_EQ(compat(4, 1, 137447344), 1);
  EXPECT_EQ(compat(4, 4, 34361835), 0);
  EXPECT_EQ(compat(4, 4, 34361836), 1);
  EXPECT_EQ(compat(4, 4, 1048576000), 100);
}

TEST(LocalityCompat, init_containers_raise_the_ceiling) {
  Engine engine;
  for (int i = 0; i < 4; ++i)
    engine.set_node(node_of(fmt::format(
        "{{metadata: {{name: n{}}}, status: {{allocatable: {{cpu: 4, memory: 8Gi, pods: 110}}, "
        "images: "
        "[{{names: ['init:1'], sizeBytes: 30000000}}, {{names: ['{}'], sizeBytes: 250000000}}]}}}}",
        i, i < 2 ? "main:1" : "else:1")));
  auto made = decide_all(engine, running("main:1", "init:1"), only_locality(LocalityMode::Compat));
  EXPECT_EQ(score_of(made, "n0", kLocality), 6);
}

TEST(LocalityCompat, compares_names_byte_for_byte) {
  auto engine = spread_over(2, 2, "docker.io/library/busybox:latest", 2000000000);
  auto score = [&](std::string_view image) {
    return score_of(decide_all(engine, running(image), only_locality(LocalityMode::Compat)), "n0",
                    kLocality);
  };
  EXPECT_EQ(score("busybox"), 0);
  EXPECT_EQ(score("docker.io/library/busybox"), 100);
  EXPECT_EQ(score("docker.io/library/busybox:latest"), 100);
}

TEST(LocalityBytes, small_images_count_and_short_names_match) {
  auto engine = spread_over(3, 1, "docker.io/library/busybox:latest", 771000);
  Profile profile = only_locality(LocalityMode::Bytes);
  for (auto image : {"busybox", "library/busybox", "docker.io/busybox:latest",
                     "index.docker.io/library/busybox"}) {
    auto made = decide_all(engine, running(image), profile);
    EXPECT_EQ(made.node, "n0") << image;
    EXPECT_EQ(score_of(made, "n0", kLocality), 100) << image;
    EXPECT_EQ(score_of(made, "n1", kLocality), 0) << image;
  }
  EXPECT_EQ(score_of(decide_all(engine, running("localhost/busybox"), profile), "n0", kLocality),
            0);
  EXPECT_EQ(score_of(decide_all(engine, running("reg:5000/busybox"), profile), "n0", kLocality), 0);
}

TEST(LocalityBytes, equal_content_matches_in_any_repository) {
  auto engine = spread_over(2, 1, fmt::format("mirror.example/app@{}", kDigest), 5000);
  auto made = decide_all(engine, running(fmt::format("example.com/app:v1@{}", kDigest)),
                         only_locality(LocalityMode::Bytes));
  EXPECT_EQ(made.node, "n0");
}

loop::ImageInventory inventory_of(std::vector<std::pair<std::string, std::int64_t>> layers,
                                  std::vector<loop::ImageInventory::Image> images) {
  loop::ImageInventory out;
  for (auto& [digest, size] : layers) out.layers.push_back({std::move(digest), size});
  out.images = std::move(images);
  return out;
}

// P has another image on the same base, Q nothing, R has X.
Engine shared_base() {
  Engine out;
  for (auto name : {"p", "q", "r"}) out.set_node(plain_node(name));
  out.set_inventory("p", inventory_of({{"base", 180}}, {{.id = "sha256:1",
                                                         .size = 180,
                                                         .names = {"docker.io/library/other:1"},
                                                         .layers = {0}}}));
  out.set_inventory("q", inventory_of({}, {}));
  out.set_inventory(
      "r",
      inventory_of(
          {{"base", 180}, {"top", 20}},
          {{.id = "sha256:2", .size = 200, .names = {"docker.io/library/x:1"}, .layers = {0, 1}}}));
  return out;
}

TEST(LocalityBytes, layers_that_images_share_count) {
  auto engine = shared_base();
  Profile profile = only_locality(LocalityMode::Bytes);
  auto made = decide_all(engine, running("x:1"), profile);
  EXPECT_EQ(score_of(made, "p", kLocality), 90);
  EXPECT_EQ(score_of(made, "q", kLocality), 0);
  EXPECT_EQ(score_of(made, "r", kLocality), 100);
  EXPECT_EQ(made.missing_bytes, 0);
  profile.locality.layers = false;
  made = decide_all(engine, running("x:1"), profile);
  EXPECT_EQ(score_of(made, "p", kLocality), 0);
  EXPECT_EQ(score_of(made, "r", kLocality), 100);
}

TEST(LocalityBytes, a_pull_under_way_counts_as_far_as_it_got) {
  auto engine = shared_base();
  auto at_p = inventory_of(
      {{"base", 180}},
      {{.id = "sha256:1", .size = 180, .names = {"docker.io/library/other:1"}, .layers = {0}}});
  at_p.pulling = {{"top", 50, 100}};
  engine.set_inventory("p", at_p);
  auto made = decide_all(engine, running("x:1"), only_locality(LocalityMode::Bytes));
  EXPECT_EQ(score_of(made, "p", kLocality), 95);
}

TEST(LocalityBytes, an_old_inventory_gives_way_to_the_nodes_status) {
  Engine engine;
  engine.set_node(holding("a", "docker.io/library/x:1", 100));
  engine.set_node(plain_node("b"));
  auto there =
      inventory_of({}, {{.id = "sha256:1", .size = 100, .names = {"docker.io/library/x:1"}}});
  engine.set_inventory("b", there);
  engine.set_inventory("a", inventory_of({}, {}));
  Profile profile = only_locality(LocalityMode::Bytes);
  EXPECT_EQ(decide_all(engine, running("x:1"), profile).node, "b");
  DecideOptions later;
  later.now = WallTime(std::chrono::seconds(601));
  EXPECT_EQ(engine.decide(*running("x:1"), profile, later).node, "a");
  profile.locality.inventory = InventorySource::StatusOnly;
  EXPECT_EQ(decide_all(engine, running("x:1"), profile).node, "a");
}

TEST(LocalityPullTime, forgives_small_misses_and_not_large_ones) {
  auto engine = spread_over(2, 1, "docker.io/library/small:1", 771000);
  auto made = decide_all(engine, running("small:1"), only_locality(LocalityMode::PullTime));
  EXPECT_EQ(score_of(made, "n0", kLocality), 100);
  EXPECT_EQ(score_of(made, "n1", kLocality), 99);
  auto slow = spread_over(2, 1, "docker.io/library/large:1", 9000000000);
  made = decide_all(slow, running("large:1"), only_locality(LocalityMode::PullTime));
  EXPECT_EQ(score_of(made, "n1", kLocality), 0);
}

TEST(Locality, pods_created_together_share_their_pulls) {
  for (std::uint64_t draw = 0; draw < 4; ++draw) {
    Engine engine;
    engine.set_node(plain_node("a"));
    engine.set_node(plain_node("b"));
    std::set<std::string> pulls;
    for (auto image : {"one", "one", "one", "two", "two"}) {
      auto pod = running(image);
      DecideOptions options;
      options.draw = draw;
      auto made = engine.decide(*pod, only_locality(LocalityMode::Bytes), options);
      engine.set_pod(pod, made.node);
      pulls.insert(made.node + image);
    }
    EXPECT_EQ(pulls.size(), 2u);
  }
}

TEST(Locality, a_pull_that_fails_promises_nothing) {
  Engine engine;
  engine.set_node(plain_node("a"));
  engine.set_node(plain_node("b"));
  engine.set_pod(
      pod_of("{metadata: {name: p}, spec: {containers: [{name: c, image: app}]}, status: "
             "{containerStatuses: [{name: c, state: {waiting: {reason: ImagePullBackOff}}}]}}"),
      "a");
  auto made = decide_all(engine, running("app"), only_locality(LocalityMode::Bytes));
  EXPECT_EQ(score_of(made, "a", kLocality), 0);
}

TEST(Locality, breaks_ties_by_missing_bytes_in_every_mode) {
  auto engine = spread_over(5, 1, "docker.io/library/busybox:latest", 771000);
  Profile profile = only_locality(LocalityMode::Compat);
  for (std::uint64_t draw = 0; draw < 5; ++draw) {
    DecideOptions options;
    options.draw = draw;
    auto made = engine.decide(*running("busybox"), profile, options);
    EXPECT_EQ(made.total, 0);
    EXPECT_EQ(made.node, "n0");
    EXPECT_EQ(made.tie_rule, "locality");
    EXPECT_EQ(made.tie_size, 5u);
  }
}

TEST(Locality, images_can_be_required) {
  auto engine = spread_over(2, 1, "docker.io/library/busybox:latest", 771000);
  Profile profile = default_profile();
  profile.locality.require = true;
  EXPECT_EQ(decide_all(engine, running("busybox"), profile).outcome,
            Decision::Outcome::single_feasible);
  EXPECT_EQ(decide_all(engine, running("other"), profile).message,
            "0/2 nodes are available: 2 node(s) did not have the required images.");
  auto asking = pod_of(
      "{metadata: {name: p, annotations: {plimsoll.io/require-images: 'true'}}, spec: "
      "{containers: [{name: c, image: other}]}}");
  EXPECT_EQ(decide_all(engine, asking, default_profile()).feasible, 0u);
}

TEST(Locality, what_is_reported_no_more_is_forgotten) {
  auto engine = shared_base();
  engine.set_inventory("r", inventory_of({}, {}));
  engine.remove_inventory("p");
  auto made = decide_all(engine, running("x:1"), only_locality(LocalityMode::Bytes));
  for (auto name : {"p", "q", "r"}) EXPECT_EQ(score_of(made, name, kLocality), 0);
  EXPECT_EQ(made.missing_bytes, 1);
}

}  // namespace
}  // namespace plim::sched
