#include "placement/locality.hpp"

#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/rfc3339.hpp"
#include "loop/image_annotation.hpp"
#include "placement/engine.hpp"
#include "placement/testing/objects.hpp"

namespace plim::placement {
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

TEST(LocalityBytes, a_layer_that_is_pulled_twice_counts_once) {
  auto engine = shared_base();
  auto at_p = inventory_of({}, {});
  at_p.pulling = {{"base", 99, 100}, {"base", 99, 100}, {"top", 99, 100}, {"base", 99, 100}};
  engine.set_inventory("p", at_p);
  auto made = decide_all(engine, running("x:1"), only_locality(LocalityMode::Bytes));
  EXPECT_EQ(score_of(made, "p", kLocality), 98);
}

TEST(LocalityBytes, huge_sizes_do_not_overflow) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;  // four of them overflow to 0
  Engine engine;
  loop::ImageInventory told;
  std::string containers;
  for (std::uint32_t i = 0; i < 20; ++i) {
    loop::ImageInventory::Image image{.id = fmt::format("sha256:{}", i), .size = kHuge};
    image.names = {fmt::format("docker.io/library/x:{}", i)};
    for (std::uint32_t j = 0; j < 500; ++j) {
      image.layers.push_back(static_cast<std::uint32_t>(told.layers.size()));
      told.layers.push_back({fmt::format("{} of {}", j, i), kHuge});
    }
    told.images.push_back(std::move(image));
    containers += fmt::format("{{name: c{}, image: 'x:{}'}},", i, i);
  }
  for (const char* name : {"a", "b"}) engine.set_node(plain_node(name));
  engine.set_inventory("b", told);
  auto pod =
      pod_of(fmt::format("{{metadata: {{name: p}}, spec: {{containers: [{}]}}}}", containers));
  auto made = decide_all(engine, pod, only_locality(LocalityMode::Bytes));
  EXPECT_EQ(score_of(made, "b", kLocality), 100);
  EXPECT_EQ(score_of(made, "a", kLocality), 0);
}

TEST(LocalityBytes, an_inventory_dated_in_the_future_is_ignored_until_then) {
  Engine engine;
  engine.set_node(plain_node("a"));
  engine.set_node(plain_node("b"));
  auto ahead =
      inventory_of({}, {{.id = "sha256:1", .size = 100, .names = {"docker.io/library/x:1"}}});
  ahead.reported_at = WallTime(std::chrono::seconds(1000));
  engine.set_inventory("b", ahead);
  const Profile profile = only_locality(LocalityMode::Bytes);
  const auto score_at = [&](std::chrono::seconds now) {
    DecideOptions options{.rows = DecideOptions::kAllRows};
    options.now = WallTime(now);
    return score_of(engine.decide(*running("x:1"), profile, options), "b", kLocality);
  };
  EXPECT_EQ(score_at(std::chrono::seconds(399)), 0);
  EXPECT_EQ(score_at(std::chrono::seconds(400)), 100);
  EXPECT_EQ(score_at(std::chrono::seconds(1600)), 100);
  EXPECT_EQ(score_at(std::chrono::seconds(1601)), 0);
}

TEST(LocalityPullTime, scores_by_the_time_to_pull_missing_bytes) {
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

PodPointer bound_at(std::string_view name, std::chrono::seconds when) {
  return pod_of(
      fmt::format("{{metadata: {{name: {}}}, spec: {{nodeName: a, containers: [{{name: c, image: "
                  "'app:1'}}]}}, status: {{conditions: [{{type: PodScheduled, status: 'True', "
                  "lastTransitionTime: '{}'}}]}}}}",
                  name, format_rfc3339(WallTime(when))));
}

// The score of a node that is pulling an image while its inventory does not have the image yet.
std::int64_t promised_score(Engine& engine, std::chrono::seconds reported,
                            std::chrono::seconds now) {
  auto inventory = inventory_of({}, {});
  inventory.reported_at = WallTime(reported);
  engine.set_inventory("a", inventory);
  DecideOptions options;
  options.now = WallTime(now);
  options.rows = DecideOptions::kAllRows;
  Profile profile = only_locality(LocalityMode::Bytes);
  profile.locality.inventory_max_age = std::chrono::hours(1);
  auto made = engine.decide(*running("app:1"), profile, options);
  return score_of(made, "a", kLocality);
}

TEST(Locality, a_promise_that_reports_contradict_ends_after_ten_minutes) {
  using std::chrono::seconds;
  Engine engine;
  engine.set_node(plain_node("a"));
  engine.set_node(plain_node("b"));
  engine.set_pod(bound_at("p", seconds(1000)), "a");
  EXPECT_EQ(promised_score(engine, seconds(1590), seconds(1599)), 100);
  EXPECT_EQ(promised_score(engine, seconds(1590), seconds(1600)), 0);
  // No report is newer than the promise.
  EXPECT_EQ(promised_score(engine, seconds(900), seconds(1600)), 100);
  // A second pod promises it again, until it goes.
  auto second = bound_at("q", seconds(1300));
  engine.set_pod(second, "a");
  EXPECT_EQ(promised_score(engine, seconds(1590), seconds(1600)), 100);
  engine.remove_pod(pod_key(*second));
  EXPECT_EQ(promised_score(engine, seconds(1590), seconds(1600)), 0);
  // The time of a pod that is only assumed has not begun.
  engine.set_pod(pod_of("{metadata: {name: q}, spec: {containers: [{name: c, image: 'app:1'}]}}"),
                 "a");
  EXPECT_EQ(promised_score(engine, seconds(1590), seconds(1600)), 100);
}

TEST(Locality, images_of_volumes_are_promised_too) {
  Engine engine;
  engine.set_node(plain_node("a"));
  engine.set_node(plain_node("b"));
  auto pod = pod_of(
      "{metadata: {name: p}, spec: {containers: [{name: c, image: app}], volumes: [{name: v, "
      "image: {reference: data}}]}}");
  engine.set_pod(pod, "a");
  auto made = decide_all(engine, pod, only_locality(LocalityMode::Bytes));
  EXPECT_EQ(score_of(made, "a", kLocality), 100);
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
    EXPECT_EQ(made.tie_rule, TieRule::locality);
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

TEST(Locality, images_that_are_no_longer_reported_are_removed) {
  auto engine = shared_base();
  engine.set_inventory("r", inventory_of({}, {}));
  engine.remove_inventory("p");
  auto made = decide_all(engine, running("x:1"), only_locality(LocalityMode::Bytes));
  for (auto name : {"p", "q", "r"}) EXPECT_EQ(score_of(made, name, kLocality), 0);
  EXPECT_EQ(made.missing_bytes, 1);
}

constexpr WallTime kNoon = WallTime(std::chrono::hours(12));

// A report about busybox that is `age` old.
loop::ImageInventory busybox(std::chrono::minutes age) {
  auto out = inventory_of(
      {}, {{.id = "sha256:1", .size = 771000, .names = {"docker.io/library/busybox:latest"}}});
  out.reported_at = kNoon - age;
  return out;
}

kube::Node annotated(std::string_view name, const loop::ImageInventory& inventory) {
  return node_of(fmt::format(
      "{{metadata: {{name: {}, annotations: {{plimsoll.io/images: '{}', plimsoll.io/images-at: "
      "'{}'}}}}, status: {{allocatable: {{cpu: 4, memory: 8Gi, pods: 110}}}}}}",
      name, loop::annotate_images(inventory), format_rfc3339(inventory.reported_at)));
}

// One node for each reporter, and one without a report.
class Reporters : public ::testing::Test {
 protected:
  Reporters() {
    for (auto name : {"crd", "etcd", "nobody"}) engine_.set_node(plain_node(name));
    engine_.set_node(annotated("annotation", busybox(std::chrono::minutes(1))));
    engine_.set_inventory("crd", busybox(std::chrono::minutes(1)));
    engine_.set_inventory("etcd", busybox(std::chrono::minutes(1)), InventorySource::Etcd);
  }

  Decision decide(InventorySource source, WallTime now = kNoon) {
    profile_.locality.inventory = source;
    DecideOptions options;
    options.rows = DecideOptions::kAllRows;
    options.now = now;
    return engine_.decide(*running("busybox"), profile_, options);
  }

  static std::set<std::string> holders(const Decision& made) {
    std::set<std::string> out;
    for (const ScoredNode& row : made.rows)
      if (row.total == 100 * 1000) out.insert(row.node);
    return out;
  }

  ImagesKnown known(const Decision& made, std::string_view node) {
    for (const ScoredNode& row : made.rows)
      if (row.node == node) return row.images;
    return {};
  }

  Engine engine_;
  Profile profile_ = only_locality(LocalityMode::Bytes);
};

TEST_F(Reporters, are_all_used_unless_the_profile_names_one) {
  using enum InventorySource;
  using Names = std::set<std::string>;
  EXPECT_EQ(holders(decide(Auto)), (Names{"annotation", "crd", "etcd"}));
  EXPECT_EQ(holders(decide(Crd)), Names{"crd"});
  EXPECT_EQ(holders(decide(Annotation)), Names{"annotation"});
  EXPECT_EQ(holders(decide(Etcd)), Names{"etcd"});
  EXPECT_EQ(holders(decide(StatusOnly)), Names{});
}

TEST_F(Reporters, are_used_until_their_report_is_too_old) {
  EXPECT_EQ(holders(decide(InventorySource::Auto, kNoon + std::chrono::minutes(9))).size(), 3U);
  const Decision late = decide(InventorySource::Auto, kNoon + std::chrono::minutes(10));
  EXPECT_EQ(holders(late).size(), 0U);
  EXPECT_EQ(known(late, "etcd"), (ImagesKnown{.by = InventorySource::StatusOnly,
                                              .reporter = InventorySource::Etcd,
                                              .age = std::chrono::minutes(11)}));
  EXPECT_EQ(known(late, "nobody"), ImagesKnown{});
}

TEST_F(Reporters, give_way_to_the_first_with_a_fresh_report) {
  auto empty = inventory_of({}, {});
  empty.reported_at = kNoon - std::chrono::minutes(2);
  engine_.set_inventory("etcd", empty);  // from the resource, which takes precedence
  Decision made = decide(InventorySource::Auto);
  EXPECT_EQ(holders(made), (std::set<std::string>{"annotation", "crd"}));
  EXPECT_EQ(known(made, "etcd").by, InventorySource::Crd);
  empty.reported_at = kNoon - std::chrono::minutes(20);
  engine_.set_inventory("etcd", empty);
  made = decide(InventorySource::Auto);
  EXPECT_EQ(holders(made).count("etcd"), 1U);
  EXPECT_EQ(known(made, "etcd"), (ImagesKnown{.by = InventorySource::Etcd,
                                              .reporter = InventorySource::Etcd,
                                              .age = std::chrono::minutes(1)}));
}

TEST_F(Reporters, are_removed_one_by_one) {
  engine_.set_inventory("crd", busybox(std::chrono::minutes(2)), InventorySource::Etcd);
  engine_.remove_inventory("crd");
  EXPECT_EQ(holders(decide(InventorySource::Auto)).count("crd"), 1U);
  engine_.remove_inventory("crd", InventorySource::Etcd);
  engine_.remove_inventory("etcd", InventorySource::Etcd);
  engine_.set_node(plain_node("annotation"));
  EXPECT_EQ(holders(decide(InventorySource::Auto)).size(), 0U);
}

TEST_F(Reporters, annotations_that_are_invalid_or_have_no_date_are_ignored) {
  kube::Node broken = annotated("annotation", busybox(std::chrono::minutes(1)));
  broken.meta.annotations[0].second = "AAAA";
  engine_.set_node(broken);
  EXPECT_EQ(holders(decide(InventorySource::Annotation)).size(), 0U);
  kube::Node undated = annotated("annotation", busybox(std::chrono::minutes(1)));
  std::erase_if(undated.meta.annotations,
                [](const auto& one) { return one.first == loop::kImagesTimeAnnotation; });
  engine_.set_node(undated);
  EXPECT_EQ(holders(decide(InventorySource::Annotation)).size(), 0U);
  engine_.set_node(annotated("annotation", busybox(std::chrono::minutes(1))));
  EXPECT_EQ(holders(decide(InventorySource::Annotation)).size(), 1U);
  engine_.remove_node("annotation");
  engine_.set_node(plain_node("annotation"));  // reuses the row of the node before
  EXPECT_EQ(holders(decide(InventorySource::Annotation)).size(), 0U);
}

PodPointer of_owner(std::string_view uid, std::string_view status = "") {
  return pod_of(fmt::format(
      "{{metadata: {{name: p, ownerReferences: [{{apiVersion: apps/v1, kind: ReplicaSet, name: r, "
      "uid: {}, controller: true}}]}}, spec: {{containers: [{{name: c, image: "
      "'app:stable'}}]}}{}}}",
      uid, status));
}

TEST(LocalityHistory, looks_up_images_of_the_same_owner_by_digest) {
  Engine engine;
  for (auto name : {"a", "b", "c"}) engine.set_node(plain_node(name));
  // The tag has moved in the registry; b has the content under the name of a mirror.
  engine.set_node(holding("b", fmt::format("mirror.example/app@{}", kDigest), 5000));
  const Profile profile = only_locality(LocalityMode::Bytes);
  EXPECT_EQ(score_of(decide_all(engine, of_owner("o1"), profile), "b", kLocality), 0);
  const PodPointer first = of_owner(
      "o1", fmt::format(", status: {{containerStatuses: [{{name: c, image: 'app:stable', imageID: "
                        "'docker-pullable://docker.io/library/app@{}'}}]}}",
                        kDigest));
  engine.set_pod(first, "c");
  EXPECT_EQ(score_of(decide_all(engine, of_owner("o1"), profile), "b", kLocality), 100);
  EXPECT_EQ(score_of(decide_all(engine, of_owner("o2"), profile), "b", kLocality), 0);
  engine.remove_pod(first->meta.uid);  // its digest is still known
  const Decision made = decide_all(engine, of_owner("o1"), profile);
  EXPECT_EQ(score_of(made, "b", kLocality), 100);
  EXPECT_EQ(score_of(made, "c", kLocality), 0);
}

}  // namespace
}  // namespace plim::placement
