// Decisions of the scheduler in memory, all nodes scored: pods of one shape after another, each
// placed where the engine says. bench/sched compares with what kube-scheduler says of its own
// decisions.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "kube/decode.hpp"
#include "sched/engine.hpp"
#include "sched/explain.hpp"
#include "sched/explain_ring.hpp"

namespace plim::bench {
namespace {

// Of the workloads of scheduler_perf with that name.
struct Shape {
  std::string_view name;
  std::string_view spec;   // beside the container
  bool explained = false;  // and kept for those who ask why, as the scheduler does it
};

constexpr Shape kShapes[] = {
    {"basic", ""},
    {"basic, explained", "", true},
    {"node affinity",
     R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
        {"matchExpressions":[{"key":"zone","operator":"In","values":["zone-0","zone-1"]}]}]}}},)"},
    {"pod affinity",
     R"("affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
        {"labelSelector":{"matchLabels":{"app":"a"}},"topologyKey":"zone"}]}},)"},
    {"topology spreading",
     R"("topologySpreadConstraints":[{"maxSkew":5,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule",
        "labelSelector":{"matchLabels":{"app":"a"}}}],)"},
};

std::string node_text(std::size_t index) {
  return fmt::format(
      R"({{"metadata":{{"name":"node-{0}","labels":{{"kubernetes.io/hostname":"node-{0}","zone":"zone-{1}"}}}},
          "status":{{"allocatable":{{"cpu":"32","memory":"256Gi","pods":"110"}}}}}})",
      index, index % 3);
}

std::string pod_text(std::size_t index, std::string_view spec) {
  return fmt::format(
      R"({{"metadata":{{"name":"pod-{0}","namespace":"default","uid":"uid-{0}","labels":{{"app":"a"}}}},
          "spec":{{{1}"containers":[{{"name":"main","image":"registry.example/service:1",
          "resources":{{"requests":{{"cpu":"100m","memory":"500Mi"}}}}}}]}}}})",
      index, spec);
}

double decisions_per_second(const Shape& shape, std::size_t nodes, std::size_t pods) {
  kube::InternPool pool;
  sched::Engine engine;
  const auto node_codec = kube::node_codec(pool);
  const auto pod_codec = kube::pod_codec(pool);
  for (std::size_t i = 0; i < nodes; ++i) {
    std::string text = node_text(i);
    engine.set_node(*node_codec.one(kube::JsonText(text)));
  }
  std::vector<sched::PodPointer> waiting;
  for (std::size_t i = 0; i < pods; ++i) {
    std::string text = pod_text(i, shape.spec);
    waiting.push_back(std::make_shared<const kube::Pod>(*pod_codec.one(kube::JsonText(text))));
  }
  const sched::Profile profile = sched::default_profile();
  sched::ExplainRing kept;
  const SteadyTime begin = system_clock().steady();
  for (const sched::PodPointer& pod : waiting) {
    sched::DecideOptions options;
    options.draw = reinterpret_cast<std::uintptr_t>(pod.get());
    if (shape.explained) options.rows = 20;
    const sched::Decision decision = engine.decide(*pod, profile, options);
    if (shape.explained) kept.add(sched::describe_decision(engine, *pod, profile, decision, 3));
    if (decision.node.empty()) {
      fmt::print(stderr, "sched_bench: {}: {}\n", shape.name, decision.message);
      std::exit(1);
    }
    engine.set_pod(pod, decision.node);
  }
  const std::chrono::duration<double> took = system_clock().steady() - begin;
  return static_cast<double>(pods) / took.count();
}

}  // namespace
}  // namespace plim::bench

int main(int argc, char** argv) {
  using namespace plim;
  if (argc != 3) {
    fmt::print(stderr,
               "usage: sched_bench NODES PODS\n\nprints decisions per second, one shape a line\n");
    return 2;
  }
  const auto nodes = parse_int<std::size_t>(argv[1]), pods = parse_int<std::size_t>(argv[2]);
  if (!nodes || !pods) {
    fmt::print(stderr, "sched_bench: two numbers, please\n");
    return 2;
  }
  for (const bench::Shape& shape : bench::kShapes)
    fmt::print("{}\t{:.0f}\n", shape.name, bench::decisions_per_second(shape, *nodes, *pods));
}
