// In random clusters: an event that no hint reports as useful does not let the pod pass.
#include <array>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "placement/testing/objects.hpp"
#include "sched/queue_hints.hpp"
#include "sched/vocabulary.hpp"

namespace plim::sched {
namespace {

constexpr std::array kPlugins{PluginId::NodeUnschedulable, PluginId::TaintToleration,
                              PluginId::NodeAffinity,      PluginId::NodePorts,
                              PluginId::NodeResourcesFit,  PluginId::PodTopologySpread,
                              PluginId::InterPodAffinity,  PluginId::VolumeRestrictions};

// A node or a pod as fields, each of which may get a new random value.
struct DrawnNode {
  std::string name, zone, disk, taint;
  bool closed = false;
  std::uint64_t cpu = 1, memory = 1, gpu = 0, pods = 1;

  kube::Node make() const {
    std::vector<std::string> labels;
    if (!zone.empty()) labels.push_back("zone: " + zone);
    if (!disk.empty()) labels.push_back("disk: " + disk);
    return placement::testing::node_of(fmt::format(
        "{{metadata: {{name: {}, labels: {{{}}}}}, spec: {{unschedulable: {}, taints: [{}]}}, "
        "status: {{allocatable: {{cpu: {}, memory: {}Gi, example.com/gpu: {}, pods: {}}}}}}}",
        name, fmt::join(labels, ", "), closed, taint, cpu, memory, gpu, pods));
  }
};

struct DrawnPod {
  std::string name, app, rules, claim;
  std::uint64_t cpu = 0, memory = 0, gpu = 0, port = 0;

  PodPointer make() const {
    const std::string ports = port == 0 ? "" : fmt::format("ports: [{{hostPort: {}}}], ", port);
    const std::string volumes =
        claim.empty()
            ? ""
            : fmt::format("volumes: [{{name: v, gcePersistentDisk: {{pdName: {}}}}}], ", claim);
    return placement::testing::pod_of(fmt::format(
        "{{metadata: {{name: {0}, uid: {0}, labels: {{app: {1}}}}}, spec: {{{2}{3}containers: "
        "[{{name: c, {4}resources: {{requests: {{cpu: {5}, memory: {6}Gi, example.com/gpu: "
        "{7}}}}}}}]}}}}",
        name, app, rules, volumes, ports, cpu, memory, gpu));
  }
};

class DrawnWorld {
 public:
  explicit DrawnWorld(std::uint64_t seed) : random_(seed) {
    engine_.set_namespace("default", {});
    const std::uint64_t count = 1 + random_.below(3);
    for (std::uint64_t i = 0; i < count; ++i) {
      DrawnNode& node = nodes_.emplace_back();
      node.name = fmt::format("n{}", i);
      for (int what = 0; what < 6; ++what) draw(node, what);
      told_[node.name] = std::make_shared<const kube::Node>(node.make());
      engine_.set_node(*told_[node.name]);
    }
    for (std::uint64_t i = 0; i < random_.below(5); ++i) add_pod(fmt::format("p{}", i));
    waiting_ = drawn_pod("waits").make();
  }

  // A profile of one filter.
  static Profile only(PluginId plugin) {
    Profile out = placement::default_profile();
    std::erase_if(out.filter, [&](PluginId one) { return one != plugin; });
    std::erase_if(out.pre_filter, [&](PluginId one) { return one != plugin; });
    return out;
  }

  bool passes(const Profile& profile) {
    return !engine_.decide(*waiting_, profile, DecideOptions()).node.empty();
  }

  // Changes the cluster at random and returns the events for the scheduler.
  std::vector<ClusterEvent> change() {
    switch (random_.below(6)) {
      case 0:
        return add_node();
      case 1:
        return remove_node();
      case 2:
        return pods_.empty() ? change_node() : remove_pod();
      case 3:
        return pods_.empty() ? change_node() : change_pod();
      case 4:
        return {{.kind = EventKind::AssignedPodAdd, .pod = add_pod("late")}};
      default:
        return change_node();
    }
  }

  bool helps(PluginId plugin, const Profile& profile, const std::vector<ClusterEvent>& events) {
    return std::ranges::any_of(events, [&](const ClusterEvent& event) {
      return may_help(plugin, event, *waiting_, engine_.cluster(), profile);
    });
  }

 private:
  std::string one_of(std::initializer_list<const char*> words) {
    return *(words.begin() + static_cast<std::ptrdiff_t>(random_.below(words.size())));
  }

  void draw(DrawnNode& node, int what) {
    if (what == 0) node.zone = one_of({"", "a", "b"});
    if (what == 1) node.disk = one_of({"", "ssd", "hdd"});
    if (what == 2)
      node.taint = one_of({"", "", "{key: x, effect: NoSchedule}", "{key: v, effect: NoExecute}",
                           "{key: z, effect: PreferNoSchedule}"});
    if (what == 3) node.closed = random_.below(3) == 0;
    if (what == 4) node.cpu = 1 + random_.below(4);
    if (what == 5) {
      node.memory = 1 + random_.below(4);
      node.gpu = random_.below(2);
      node.pods = 1 + random_.below(3);
    }
  }

  std::string term(std::string_view kind) {
    return fmt::format(
        "{}: {{requiredDuringSchedulingIgnoredDuringExecution: [{{topologyKey: {}, labelSelector: "
        "{{matchLabels: {{app: {}}}}}}}]}}",
        kind, one_of({"zone", "disk"}), one_of({"a", "b"}));
  }

  DrawnPod drawn_pod(std::string name) {
    DrawnPod out;
    out.name = std::move(name);
    out.app = one_of({"a", "b"});
    out.cpu = random_.below(4);
    out.memory = random_.below(4);
    out.gpu = random_.below(2);
    out.port = random_.below(3) == 0 ? 80 + random_.below(2) : 0;
    out.claim = one_of({"", "", "one", "two"});
    std::vector<std::string> terms;
    if (random_.below(3) == 0) terms.push_back(term("podAffinity"));
    if (random_.below(3) == 0) terms.push_back(term("podAntiAffinity"));
    if (!terms.empty()) out.rules += fmt::format("affinity: {{{}}}, ", fmt::join(terms, ", "));
    if (random_.below(3) == 0)
      out.rules += fmt::format("nodeSelector: {{disk: {}}}, ", one_of({"ssd", "hdd"}));
    if (random_.below(3) == 0)
      out.rules +=
          fmt::format("tolerations: [{{key: {}, operator: Exists}}], ", one_of({"x", "v"}));
    if (random_.below(2) == 0)
      out.rules += fmt::format(
          "topologySpreadConstraints: [{{maxSkew: 1, topologyKey: {}, whenUnsatisfiable: "
          "DoNotSchedule, nodeTaintsPolicy: {}, labelSelector: {{matchLabels: {{app: {}}}}}}}], ",
          one_of({"zone", "disk"}), one_of({"Honor", "Ignore"}), one_of({"a", "b"}));
    return out;
  }

  const DrawnNode& some_node() { return nodes_[random_.below(nodes_.size())]; }

  PodPointer add_pod(std::string name) {
    DrawnPod drawn = drawn_pod(std::move(name));
    PodPointer made = drawn.make();
    const std::string node = nodes_.empty() ? "gone" : some_node().name;
    engine_.set_pod(made, node);
    pods_.push_back({std::move(drawn), made, node});
    return made;
  }

  std::vector<ClusterEvent> add_node() {
    DrawnNode& node = nodes_.emplace_back();
    node.name = "late";
    for (int what = 0; what < 6; ++what) draw(node, what);
    auto made = std::make_shared<const kube::Node>(node.make());
    engine_.set_node(*made);
    return {{.kind = EventKind::NodeAdd, .node = made}};
  }

  // Its pods move with it.
  std::vector<ClusterEvent> remove_node() {
    const std::string name = some_node().name;
    engine_.remove_node(name);
    std::vector<ClusterEvent> out{{.kind = EventKind::NodeDelete, .node_before = told_[name]}};
    for (const Placed& one : pods_) {
      if (one.node != name) continue;
      engine_.remove_pod(one.told->meta.uid);
      out.push_back({.kind = EventKind::AssignedPodDelete, .pod = one.told});
    }
    return out;
  }

  std::vector<ClusterEvent> change_node() {
    DrawnNode& node = nodes_[random_.below(nodes_.size())];
    draw(node, static_cast<int>(random_.below(6)));
    const auto before = told_[node.name];
    auto now = std::make_shared<const kube::Node>(node.make());
    engine_.set_node(*now);
    std::vector<ClusterEvent> out;
    for (const EventKind kind : changes_of(*before, *now))
      out.push_back({.kind = kind, .node_before = before, .node = now});
    return out;
  }

  std::vector<ClusterEvent> remove_pod() {
    const Placed& gone = pods_[random_.below(pods_.size())];
    engine_.remove_pod(gone.told->meta.uid);
    return {{.kind = EventKind::AssignedPodDelete, .pod = gone.told}};
  }

  std::vector<ClusterEvent> change_pod() {
    Placed& one = pods_[random_.below(pods_.size())];
    if (random_.below(2) == 0)
      one.drawn.app = one_of({"a", "b", "c"});
    else
      (random_.below(2) == 0 ? one.drawn.cpu : one.drawn.memory) = random_.below(4);
    const PodPointer now = one.drawn.make();
    engine_.set_pod(now, one.node);
    std::vector<ClusterEvent> out;
    for (const EventKind kind : changes_of_assigned(*one.told, *now))
      out.push_back({.kind = kind, .pod_before = one.told, .pod = now});
    return out;
  }

  struct Placed {
    DrawnPod drawn;
    PodPointer told;
    std::string node;
  };

  SeededRandom random_;
  Engine engine_;
  std::vector<DrawnNode> nodes_;
  std::map<std::string, std::shared_ptr<const kube::Node>> told_;
  std::vector<Placed> pods_;
  PodPointer waiting_;
};

TEST(HintProperty, an_event_without_a_hint_does_not_let_the_pod_pass) {
  std::map<PluginId, int> refused;
  int all = 0, skipped = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    DrawnWorld world(seed);
    std::vector<PluginId> refusing;
    for (const PluginId plugin : kPlugins)
      if (!world.passes(DrawnWorld::only(plugin))) refusing.push_back(plugin);
    const std::vector<ClusterEvent> events = world.change();
    for (const PluginId plugin : refusing) {
      ++refused[plugin];
      ++all;
      const Profile profile = DrawnWorld::only(plugin);
      if (world.helps(plugin, profile, events)) continue;
      ++skipped;
      ASSERT_FALSE(world.passes(profile)) << "seed " << seed << ", " << name_of(plugin);
    }
  }
  for (const PluginId plugin : kPlugins) EXPECT_GT(refused[plugin], 0) << name_of(plugin);
  EXPECT_GT(skipped * 4, all) << "they do let pods sleep";
}

}  // namespace
}  // namespace plim::sched
