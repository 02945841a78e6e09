// An engine with any history decides like a new engine with the same cluster.
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "placement/engine.hpp"
#include "placement/preempt.hpp"
#include "placement/testing/objects.hpp"

namespace plim::placement {
namespace {

using testing::labels_of;
using testing::node_of;
using testing::pod_of;

constexpr int kNodes = 5, kNodeKinds = 4, kPods = 8;

constexpr std::string_view kNodeForms[kNodeKinds] = {
    "labels: {{host: n{0}, zone: z1, kubernetes.io/hostname: n{0}}}}}, status: {{allocatable: "
    "{{cpu: 4, "
    "memory: 8Gi, pods: 5}}, images: [{{names: ['docker.io/library/app:1'], sizeBytes: 50000000}}]",
    "labels: {{host: n{0}, zone: z2, disk: ssd}}}}, status: {{allocatable: {{cpu: 2, memory: 4Gi, "
    "pods: "
    "3, example.com/gpu: 2}}",
    "labels: {{host: n{0}}}}}, spec: {{taints: [{{key: k, effect: NoSchedule}}, {{key: l, effect: "
    "PreferNoSchedule}}]}}, status: {{allocatable: {{cpu: 8, memory: 8Gi, pods: 9}}",
    "labels: {{zone: z1}}}}, spec: {{unschedulable: true}}, status: {{allocatable: {{cpu: 8, "
    "memory: 8Gi, "
    "pods: 9}}"};

constexpr std::string_view kPodForms[] = {
    "labels: {app: web}}, spec: {containers: [{name: c, image: 'app:1', resources: {requests: "
    "{cpu: 1}}}]",
    "labels: {app: db}}, spec: {priority: 5, tolerations: [{operator: Exists}], containers: "
    "[{name: c, "
    "image: 'db:1', ports: [{hostPort: 80}]}]",
    "labels: {app: web}, namespace: other}, spec: {containers: [{name: c, resources: {requests: "
    "{memory: "
    "1Gi, example.com/gpu: 1}}}]",
    "labels: {app: web}}, spec: {priority: 9, containers: [{name: c}], topologySpreadConstraints: "
    "[{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: "
    "{matchLabels: "
    "{app: web}}}, {maxSkew: 2, topologyKey: host, whenUnsatisfiable: ScheduleAnyway, "
    "labelSelector: "
    "{matchLabels: {app: web}}}]",
    "labels: {app: db}}, spec: {containers: [{name: c}], affinity: {podAntiAffinity: "
    "{requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchLabels: {app: web}}, "
    "topologyKey: host}]}, podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: "
    "[{weight: 7, "
    "podAffinityTerm: {labelSelector: {matchLabels: {app: db}}, topologyKey: zone}}]}}",
    "labels: {app: web}}, spec: {priority: 3, containers: [{name: c, resources: {requests: {cpu: "
    "2}}}], "
    "nodeSelector: {zone: z1}, affinity: {podAffinity: "
    "{requiredDuringSchedulingIgnoredDuringExecution: "
    "[{labelSelector: {}, topologyKey: zone, namespaceSelector: {matchLabels: {team: two}}}]}}",
    "labels: {app: web}, deletionTimestamp: '2026-01-01T00:00:00Z'}, spec: {containers: [{name: "
    "c}]",
};
constexpr int kPodKinds = std::size(kPodForms);

const kube::Node& node_form(int name, int kind) {
  static std::map<std::pair<int, int>, kube::Node> made;
  auto [at, is_new] = made.try_emplace({name, kind});
  if (is_new)
    at->second = node_of(fmt::format("{{metadata: {{name: n{}, {}}}}}", name,
                                     fmt::format(fmt::runtime(kNodeForms[kind]), name)));
  return at->second;
}

PodPointer pod_form(int uid, int kind) {
  static std::map<std::pair<int, int>, PodPointer> made;
  PodPointer& out = made[{uid, kind}];
  if (!out)
    out = pod_of(fmt::format("{{metadata: {{name: p{0}, uid: u{0}, {1}}}}}", uid, kPodForms[kind]));
  return out;
}

// The current cluster, to be passed to a new engine.
struct World {
  std::map<int, int> nodes;                                    // kind by name
  std::map<int, std::pair<int, int>> pods, hoped;              // kind and node by uid
  std::map<std::pair<int, InventorySource>, int> inventories;  // variant by node and reporter

  void tell(Engine& engine) const {
    engine.set_namespace("default", labels_of("{team: one}"));
    engine.set_namespace("other", labels_of("{team: two}"));
    engine.set_selector_owner(
        {"Service", "default", "web", *kube::LabelSelector::parse("app=web")});
    for (const auto& [name, kind] : nodes) engine.set_node(node_form(name, kind));
    for (const auto& [uid, at] : pods)
      engine.set_pod(pod_form(uid, at.first), fmt::format("n{}", at.second));
    for (const auto& [uid, at] : hoped)
      engine.nominate(pod_form(uid, at.first), fmt::format("n{}", at.second));
    for (const auto& [of, variant] : inventories)
      engine.set_inventory(fmt::format("n{}", of.first), inventory(variant), of.second);
  }

  static loop::ImageInventory inventory(int variant) {
    loop::ImageInventory out;
    out.layers = {{"base", 100}, {"top", 10}};
    out.images = {
        {.id = "sha256:1", .size = 100, .names = {"docker.io/library/db:1"}, .layers = {0}}};
    if (variant % 2 == 1)
      out.images.push_back(
          {.id = "sha256:2", .size = 110, .names = {"docker.io/library/app:1"}, .layers = {0, 1}});
    out.pulling = {{"top", variant, 4}};
    return out;
  }
};

void step(std::uint32_t dice, World& world, Engine& engine) {
  auto roll = [&](std::uint32_t sides) {
    std::uint32_t out = dice % sides;
    dice /= sides;
    return static_cast<int>(out);
  };
  int what = roll(8), name = roll(kNodes), uid = roll(kPods), kind = roll(kPodKinds);
  std::string node = fmt::format("n{}", name), key = fmt::format("u{}", uid);
  switch (what) {
    case 0:
    case 1:
      world.nodes[name] = kind % kNodeKinds;
      return engine.set_node(node_form(name, kind % kNodeKinds));
    case 2:
      world.nodes.erase(name);
      return engine.remove_node(node);
    case 3:
    case 4:
      world.pods[uid] = {kind, name};
      return engine.set_pod(pod_form(uid, kind), node);
    case 5:
      world.pods.erase(uid);
      return engine.remove_pod(key);
    case 6:
      if (kind % 2 == 0) {
        world.hoped[uid] = {kind, name};
        return engine.nominate(pod_form(uid, kind), node);
      }
      world.hoped.erase(uid);
      return engine.forget_nomination(key);
    default: {
      const auto reporter = uid % 2 == 0 ? InventorySource::Crd : InventorySource::Etcd;
      if (kind % 3 != 0) {
        world.inventories[{name, reporter}] = kind;
        return engine.set_inventory(node, World::inventory(kind), reporter);
      }
      world.inventories.erase({name, reporter});
      return engine.remove_inventory(node, reporter);
    }
  }
}

// The whole decision as text, in an order that does not depend on rows of the table.
std::string told(Engine& engine, const PodPointer& pod, const Profile& profile) {
  auto made = testing::decide_all(engine, pod, profile);
  std::string out =
      fmt::format("{} {} {} {}\n", made.node, made.total, made.feasible, made.message);
  for (const ScoredNode& row : made.rows) {
    out += fmt::format("{} {}:", row.node, row.total);
    for (const PluginScore& score : row.scores)
      out += fmt::format(" {}={}/{}", name_of(score.plugin), score.raw, score.normalized);
    out += '\n';
  }
  std::map<std::string, std::string> refused;
  for (const Rejection& rejection : made.rejections)
    for (NodeIndex row : rejection.nodes)
      refused[engine.node_name(row)] = fmt::format("{}", fmt::join(rejection.reasons, ", "));
  for (const auto& [node, why] : refused) out += fmt::format("{}: {}\n", node, why);
  if (made.outcome != Decision::Outcome::unschedulable) return out;
  auto preemption = engine.preempt(*pod, profile, made, {}, {});
  out += preemption.message;
  if (!preemption.best) return out;
  const PreemptionCandidate& best = preemption.candidates[*preemption.best];
  out += best.node;
  for (const PodPointer& victim : best.victims) out += " " + victim->meta.name;
  return out;
}

RC_GTEST_PROP(History, does_not_matter, (std::vector<std::uint32_t> dice)) {
  Engine lived, fresh;
  World world;
  world.tell(lived);
  Profile profile = default_profile();
  profile.locality.mode = LocalityMode::Bytes;
  profile.locality.tie_break = TieBreak::First;
  for (std::uint32_t one : dice) {
    step(one, world, lived);
    // Decisions in between fill the engine's caches and must not change later decisions.
    if (one % 3 == 0) told(lived, pod_form(100, static_cast<int>(one / 7 % kPodKinds)), profile);
  }
  world.tell(fresh);
  for (int kind = 0; kind < kPodKinds; ++kind)
    RC_ASSERT(told(lived, pod_form(101, kind), profile) ==
              told(fresh, pod_form(101, kind), profile));
}

}  // namespace
}  // namespace plim::placement
