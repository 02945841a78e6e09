// Pods of equal shape share a cache, and decisions are the same as without it.
#include "placement/node_class.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "placement/engine.hpp"
#include "placement/testing/objects.hpp"

namespace plim::placement {
namespace {

using testing::labels_of;
using testing::node_of;
using testing::plain_node;
using testing::plain_pod;
using testing::pod_of;

constexpr std::uint32_t kMachines = 14, kPlaces = 24;

constexpr std::string_view kMachineForms[] = {
    "labels: {{host: m{0}, zone: z1, kubernetes.io/hostname: m{0}}}}}, status: {{allocatable: "
    "{{cpu: 4, memory: 8Gi, pods: 5}}, images: [{{names: ['docker.io/library/app:1'], sizeBytes: "
    "700000000}}]",
    "labels: {{host: m{0}, zone: z1, kubernetes.io/hostname: m{0}}}}}, status: {{allocatable: "
    "{{cpu: 4, memory: 8Gi, pods: 5}}, images: [{{names: ['docker.io/library/run@sha256:"
    "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb', 'docker.io/library/db:1'], "
    "sizeBytes: "
    "300000000}}, {{names: ['docker.io/library/app:1'], sizeBytes: 700000000}}]",
    "labels: {{host: m{0}, zone: z2, disk: ssd}}}}, status: {{allocatable: {{cpu: 2, memory: 4Gi, "
    "pods: 3, example.com/gpu: 2}}",
    "labels: {{host: m{0}, zone: z2, size: '7'}}}}, status: {{allocatable: {{cpu: 3, memory: 4Gi, "
    "pods: 4}}",
    "labels: {{host: m{0}}}}}, spec: {{taints: [{{key: k, effect: NoSchedule}}, {{key: l, effect: "
    "PreferNoSchedule}}]}}, status: {{allocatable: {{cpu: 8, memory: 8Gi, pods: 9}}",
    "labels: {{host: m{0}, zone: z1}}}}, spec: {{taints: [{{key: m, effect: PreferNoSchedule}}]}}, "
    "status: {{allocatable: {{cpu: 4, memory: 8Gi, pods: 9}}",
    "labels: {{zone: z1}}}}, spec: {{unschedulable: true}}, status: {{allocatable: {{cpu: 8, "
    "memory: 8Gi, pods: 9}}",
};

// Neighbouring shapes differ in one field, which may or may not matter to the class.
constexpr std::string_view kShapes[] = {
    "labels: {app: web}}, spec: {containers: [{name: c, image: 'app:1', resources: {requests: "
    "{cpu: 1}}}]",
    "labels: {app: db}}, spec: {containers: [{name: c, image: 'app:1', resources: {requests: "
    "{cpu: 1}}}]}, status: {startTime: '1970-01-02T00:02:00Z'",
    "labels: {app: db}}, spec: {tolerations: [{key: k, operator: Exists}], containers: [{name: c, "
    "image: 'app:1', resources: {requests: {cpu: 1}}}]",
    "labels: {app: db}}, spec: {nodeName: m3, containers: [{name: c, image: 'app:1', resources: "
    "{requests: {cpu: 1}}}]",
    "labels: {app: db}}, spec: {priority: 5, tolerations: [{operator: Exists}], initContainers: "
    "[{name: i, image: 'app:1'}], containers: [{name: c, image: 'db:1', ports: [{hostPort: 80}]}]",
    "labels: {app: db}}, spec: {priority: 5, tolerations: [{operator: Exists}], initContainers: "
    "[{name: i, image: 'app:1'}], containers: [{name: c, image: 'db:1', ports: [{hostPort: 81}]}]",
    "labels: {app: web}, namespace: other}, spec: {containers: [{name: c, resources: {requests: "
    "{memory: 1Gi, example.com/gpu: 1}}}]",
    "labels: {app: web}}, spec: {priority: 9, containers: [{name: c, image: 'db:1'}], "
    "topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, "
    "labelSelector: {matchLabels: {app: web}}}, {maxSkew: 2, topologyKey: host, whenUnsatisfiable: "
    "ScheduleAnyway, labelSelector: {matchLabels: {app: web}}}]",
    "labels: {app: db}}, spec: {containers: [{name: c}], affinity: {podAntiAffinity: "
    "{requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchLabels: {app: web}}, "
    "topologyKey: host}]}, podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: "
    "[{weight: 7, podAffinityTerm: {labelSelector: {matchLabels: {app: db}}, topologyKey: "
    "zone}}]}}",
    "labels: {app: web}}, spec: {priority: 3, containers: [{name: c, resources: {requests: {cpu: "
    "2}}}], nodeSelector: {zone: z1}, affinity: {nodeAffinity: "
    "{preferredDuringSchedulingIgnoredDuringExecution: [{weight: 3, preference: "
    "{matchExpressions: [{key: kubernetes.io/hostname, operator: Exists}]}}, {weight: 2, "
    "preference: {matchExpressions: [{key: size, operator: Gt, values: ['3']}]}}]}}",
    "labels: {app: web}}, spec: {containers: [{name: c, image: 'app:1'}], affinity: "
    "{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
    "[{matchFields: [{key: metadata.name, operator: In, values: [m1]}]}, {matchFields: [{key: "
    "metadata.name, operator: In, values: [m2]}]}]}}}",
    "labels: {app: db}, annotations: {plimsoll.io/require-images: 'true'}}, spec: {containers: "
    "[{name: c, image: 'db:1', resources: {requests: {cpu: 500m}}}]",
    "labels: {app: run}, ownerReferences: [{kind: ReplicaSet, name: r, uid: r1, controller: "
    "true}]}, spec: {containers: [{name: c, image: 'run:latest', resources: {requests: {cpu: "
    "100m}}}]}, status: {containerStatuses: [{name: c, imageID: 'docker.io/library/run@sha256:"
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'}]",
    "labels: {app: run}, ownerReferences: [{kind: ReplicaSet, name: r, uid: r1, controller: "
    "true}]}, spec: {containers: [{name: c, image: 'run:latest', resources: {requests: {cpu: "
    "100m}}}]}, status: {containerStatuses: [{name: c, imageID: 'docker.io/library/run@sha256:"
    "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'}]",
};

const kube::Node& machine(std::uint32_t name, std::uint32_t kind) {
  static std::map<std::pair<std::uint32_t, std::uint32_t>, kube::Node> made;
  auto [at, is_new] = made.try_emplace({name, kind});
  if (is_new)
    at->second = node_of(fmt::format("{{metadata: {{name: m{}, {}}}}}", name,
                                     fmt::format(fmt::runtime(kMachineForms[kind]), name)));
  return at->second;
}

PodPointer shaped(std::uint32_t uid, std::uint32_t kind) {
  static std::map<std::pair<std::uint32_t, std::uint32_t>, PodPointer> made;
  PodPointer& out = made[{uid, kind}];
  if (!out)
    out = pod_of(fmt::format("{{metadata: {{name: p{0}, uid: u{0}, {1}}}}}", uid, kShapes[kind]));
  return out;
}

loop::ImageInventory stock_of(std::uint32_t variant, WallTime now) {
  loop::ImageInventory out;
  out.reported_at = now - std::chrono::minutes(variant % 8);
  out.bandwidth = variant % 3 == 0 ? 10 << 20 : 0;
  out.layers = {{"base", 100'000'000}, {"top", 10'000'000 * (variant % 2 + 1)}};
  out.images = {
      {.id = "sha256:1", .size = 100, .names = {"docker.io/library/db:1"}, .layers = {0}}};
  if (variant % 4 < 2)
    out.images.push_back(
        {.id = "sha256:2", .size = 110, .names = {"docker.io/library/app:1"}, .layers = {0, 1}});
  if (variant % 4 == 3) out.layers.pop_back();
  out.pulling = {{"top", variant % 5, 5}};
  return out;
}

std::vector<Profile> some_profiles() {
  std::vector<Profile> out(7, default_profile());
  out[1].locality.mode = LocalityMode::Bytes;
  out[2].locality.mode = LocalityMode::PullTime;
  out[2].locality.tie_break = TieBreak::Random;
  out[2].fit.strategy = FitStrategy::MostAllocated;
  out[3].locality.mode = LocalityMode::Bytes;
  out[3].locality.layers = false;
  out[3].locality.inventory = InventorySource::Crd;
  out[3].locality.tie_break = TieBreak::First;
  // Filters by row run after filters that depend on other pods.
  auto fit = std::ranges::find(out[4].filter, PluginId::NodeResourcesFit);
  std::rotate(fit, fit + 1, out[4].filter.end());
  out[4].node_affinity.added = *parse_json(
      R"({"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":4,"preference":{"matchExpressions":[{"key":"disk","operator":"Exists"}]}}]})");
  out[5].score.clear();  // the first node that fits is chosen
  out[6].locality.require = true;
  out[6].spread = {.system_defaults = false, .defaults = {{1, "zone", true}, {1, "host", false}}};
  return out;
}

std::string all_of(const Decision& made) {
  std::string out =
      fmt::format("{} '{}' '{}' '{}' {}/{}/{} total {} tie {} {} images {} {} {}{}\n",
                  static_cast<int>(made.outcome), made.node, made.message, made.pre_filter_message,
                  made.total_nodes, made.looked_at, made.feasible, made.total, made.tie_size,
                  name_of(made.tie_rule), made.image_bytes, made.missing_bytes, made.unasked,
                  made.by_nomination ? " nominated" : "");
  out += fmt::format("fit: {}\n", fmt::join(made.feasible_nodes, " "));
  for (const ScoredNode& row : made.rows) {
    out += fmt::format("{} {} missing {} by {} {}:", row.node, row.total, row.missing_bytes,
                       static_cast<int>(row.images.by), row.images.age.count());
    for (const PluginScore& one : row.scores)
      out +=
          fmt::format(" {}={}/{}/{}", name_of(one.plugin), one.raw, one.normalized, one.weighted);
    for (const ExtenderPoints& one : row.extenders) out += fmt::format(" {}", one.weighted);
    out += '\n';
  }
  for (const Rejection& one : made.rejections)
    out += fmt::format("{} {} {}: {} ({})\n", one.plugin ? name_of(*one.plugin) : "extender",
                       static_cast<int>(one.code), fmt::join(one.reasons, ", "),
                       fmt::join(one.nodes, " "), fmt::join(one.details, "|"));
  for (PluginId plugin : made.rejecting_plugins) out += name_of(plugin);
  return out;
}

// Two engines get the same changes; one of them drops its classes before every decision.
class Twins {
 public:
  Twins() : profiles_(some_profiles()) {
    each([](Engine& engine) {
      engine.set_namespace("default", labels_of("{team: one}"));
      engine.set_namespace("other", labels_of("{team: two}"));
      engine.set_selector_owner(
          {"Service", "default", "web", *kube::LabelSelector::parse("app=web")});
      for (std::uint32_t i = 0; i < kMachines; ++i) engine.set_node(machine(i, i % 4));
    });
  }

  // The change depends on the dice only.
  void step(std::uint32_t dice) {
    auto roll = [&](std::uint32_t sides) {
      const std::uint32_t out = dice % sides;
      dice /= sides;
      return out;
    };
    const std::uint32_t what = roll(20), name = roll(kMachines), uid = roll(kPlaces),
                        kind = roll(std::size(kShapes)), form = roll(std::size(kMachineForms));
    const std::string node = fmt::format("m{}", name), key = fmt::format("u{}", uid);
    if (what == 0) now_ += std::chrono::minutes(form);
    each([&](Engine& engine) {
      switch (what) {
        case 0:
          return;
        case 1:
          return engine.set_node(machine(name, form));
        case 2:
        case 3:
          return engine.set_node(machine(name, name % 4));
        case 4:
          return engine.remove_node(node);
        case 5:
        case 6:
          return engine.remove_pod(key);
        case 7:
          return engine.nominate(shaped(uid, kind), node);
        case 8:
          return engine.forget_nomination(key);
        case 9:
        case 10: {
          const auto by = uid % 2 == 0 ? InventorySource::Crd : InventorySource::Etcd;
          if (kind % 3 != 0) return engine.set_inventory(node, stock_of(kind, now_), by);
          return engine.remove_inventory(node, by);
        }
        default:
          return engine.set_pod(shaped(uid, kind), node);
      }
    });
  }

  // Empty if both decide the same for a pod of that kind, which is then placed there.
  std::string compare(std::uint32_t dice, std::size_t form, std::size_t kind) {
    DecideOptions options;
    options.rows = dice % 3 == 0 ? DecideOptions::kAllRows : dice / 3 % 3;
    options.draw = dice;
    options.now = now_;
    ExtenderAnswers answers;
    if (dice % 11 == 0) {
      answers.passed = {"m1", "m10", "m3", "m5", "m7"};
      answers.rejections = {{"m2", RejectCode::unresolvable, fmt::format("{} said no", dice)}};
      answers.scores = {{"http://it", 2, {{"m3", 4}, {"m5", 1}}}};
      options.extenders = &answers;
      options.any_extender = true;
    }
    const Profile& profile = profiles_[form % profiles_.size()];
    const PodPointer pod =
        shaped(100 + dice % kPlaces, static_cast<std::uint32_t>(kind % std::size(kShapes)));
    const Decision by_lived = lived_.decide(*pod, profile, options);
    fresh_.forget_classes();
    const Decision by_fresh = fresh_.decide(*pod, profile, options);
    const std::string lived = all_of(by_lived), fresh = all_of(by_fresh);
    if (lived != fresh)
      return fmt::format("{}\nremembers:\n{}\nfinds:\n{}", pod->meta.name, lived, fresh);
    if (dice % 2 == 0 && !by_lived.node.empty())
      each([&](Engine& engine) { engine.set_pod(pod, by_lived.node); });
    return "";
  }

 private:
  void each(const auto& what) {
    what(lived_);
    what(fresh_);
  }

  std::vector<Profile> profiles_;
  Engine lived_, fresh_;
  WallTime now_{std::chrono::hours(24)};
};

// Uses the same classes often: mostly one profile and two shapes.
RC_GTEST_PROP(NodeClass, decides_as_one_that_remembers_nothing,
              (std::vector<std::uint32_t> dice, std::uint8_t form, std::uint8_t kind)) {
  Twins twins;
  for (std::uint32_t one : dice) {
    twins.step(one);
    for (std::uint32_t turn : {one / 5, one / 7 + 1}) {
      const bool other = turn % 8 == 0;
      const std::string differs =
          twins.compare(turn, other ? turn / 8 : form, other ? turn / 64 : kind + turn % 2);
      if (!differs.empty()) RC_LOG(differs);
      RC_ASSERT(differs.empty());
    }
  }
}

// Rejects no node and records the nodes it was asked about.
class Listener final : public FilterOf<Listener> {
 public:
  explicit Listener(std::vector<NodeIndex>& asked) : asked_(asked) {}

  Verdict judge(NodeIndex row) {
    asked_.push_back(row);
    return kFits;
  }

 private:
  std::vector<NodeIndex>& asked_;
};

TEST(NodeClass, looks_again_only_at_nodes_that_have_changed) {
  Engine engine;
  for (int i = 0; i < 100; ++i) engine.set_node(plain_node(fmt::format("n{}", i)));
  ClusterTables& cluster = engine.cluster();
  const PodPointer pod = plain_pod("p", "{cpu: 1}");
  const Incoming in(*pod, cluster);
  const Profile profile = default_profile();
  NodeClass alike;
  Cycle cycle{.cluster = cluster, .in = in, .profile = profile, .verdicts = alike.verdicts};
  std::vector<NodeIndex> asked;
  std::array<FilterStep, 1> filters{
      FilterStep{PluginId::NodeResourcesFit, std::make_unique<Listener>(asked)}};
  auto ask = [&] {
    asked.clear();
    alike.sieve(cycle, filters);
    return asked;
  };
  EXPECT_EQ(ask().size(), 100u);
  EXPECT_TRUE(ask().empty());
  engine.set_pod(pod, "n7");
  EXPECT_EQ(ask(), std::vector{*cluster.table().find("n7")});
  engine.set_node(plain_node("n8"));  // a heartbeat
  engine.remove_pod(pod->meta.uid);
  EXPECT_EQ(ask(), (std::vector{*cluster.table().find("n7"), *cluster.table().find("n8")}));
  engine.set_node(plain_node("n8", "{zone: a}"));
  EXPECT_EQ(ask().size(), 100u);
}

TEST(NodeClass, is_not_shared_between_different_profiles) {
  Engine engine;
  for (auto name : {"a", "b"}) engine.set_node(plain_node(name));
  engine.set_pod(plain_pod("there", "{cpu: 2}"), "a");
  Profile profile = default_profile();
  EXPECT_EQ(engine.decide(*plain_pod("p", "{cpu: 1}"), profile, {}).node, "b");
  profile.fit.strategy = FitStrategy::MostAllocated;
  profile.score = {{PluginId::NodeResourcesFit, 1}};
  EXPECT_EQ(engine.decide(*plain_pod("p", "{cpu: 1}"), profile, {}).node, "a");
}

TEST(NodeClass, uses_an_inventory_only_until_it_is_too_old) {
  Engine engine;
  for (auto name : {"a", "b"}) engine.set_node(plain_node(name));
  const WallTime begin{std::chrono::hours(24)};
  loop::ImageInventory has_it;
  has_it.reported_at = begin;
  has_it.images = {{.id = "sha256:1", .size = 100, .names = {"docker.io/library/app:latest"}}};
  engine.set_inventory("b", has_it);
  const Profile profile = default_profile();
  auto missing_after = [&](std::chrono::seconds time) {
    DecideOptions options;
    options.now = begin + time;
    return engine.decide(*plain_pod("p", "{cpu: 1}"), profile, options).missing_bytes;
  };
  EXPECT_EQ(missing_after(std::chrono::seconds(0)), 0);
  EXPECT_EQ(missing_after(std::chrono::seconds(600)), 0);
  EXPECT_EQ(missing_after(std::chrono::seconds(601)), 100);
  EXPECT_EQ(missing_after(std::chrono::seconds(10)), 0);  // a clock that was set back
}

TEST(NodeClass, counts_an_expected_pull_only_for_a_limited_time) {
  Engine engine;
  for (auto name : {"a", "b"}) engine.set_node(plain_node(name));
  const WallTime begin{std::chrono::hours(24)};
  loop::ImageInventory has_nothing;
  has_nothing.reported_at = begin + std::chrono::minutes(5);
  for (auto name : {"a", "b"}) engine.set_inventory(name, has_nothing);
  engine.set_pod(pod_of("{metadata: {name: there}, spec: {containers: [{name: c, image: app}]}, "
                        "status: {startTime: '1970-01-02T00:00:00Z'}}"),
                 "b");
  const Profile profile = default_profile();
  auto missing_after = [&](std::chrono::minutes time) {
    DecideOptions options;
    options.rows = DecideOptions::kAllRows;
    options.now = begin + time;
    const Decision made = engine.decide(*plain_pod("p", "{cpu: 1}"), profile, options);
    return std::ranges::find(made.rows, "b", &ScoredNode::node)->missing_bytes;
  };
  EXPECT_EQ(missing_after(std::chrono::minutes(9)), 0);
  EXPECT_EQ(missing_after(std::chrono::minutes(10)), 1);
}

}  // namespace
}  // namespace plim::placement
