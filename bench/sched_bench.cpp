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
#include "load.hpp"
#include "placement/engine.hpp"
#include "sched/explain.hpp"
#include "sched/explain_ring.hpp"
#include "sched_shapes.hpp"

namespace plim::bench {
namespace {

struct Extra {
  bool explained = false;    // decisions are kept for those who ask why, as the scheduler does it
  std::size_t services = 0;  // that select the pods in turn, which are then spread by default
};

void add_services(placement::Engine& engine, std::size_t services) {
  for (std::size_t i = 0; i < services; ++i)
    engine.set_selector_owner(
        {.kind = "Service",
         .ns = std::string(kNamespace),
         .name = fmt::format("service-{}", i),
         .selector = *kube::LabelSelector::parse(fmt::format("app=service-{}", i))});
}

double decisions_per_second(const SchedShape& shape, Extra extra, std::size_t nodes,
                            std::size_t pods) {
  kube::InternPool pool;
  placement::Engine engine;
  const auto node_codec = kube::node_codec(pool);
  const auto pod_codec = kube::pod_codec(pool);
  for (std::size_t i = 0; i < nodes; ++i) {
    std::string text = fake_node_text(i);
    engine.set_node(*node_codec.one(kube::JsonText(text)));
  }
  add_services(engine, extra.services);
  std::vector<placement::PodPointer> waiting;
  for (std::size_t i = 0; i < pods; ++i) {
    std::string text = waiting_pod_text(i, shape);
    kube::Pod pod = *pod_codec.one(kube::JsonText(text));
    if (extra.services != 0)
      pod.meta.labels = {{pool("app"), pool(fmt::format("service-{}", i % extra.services))}};
    waiting.push_back(std::make_shared<const kube::Pod>(std::move(pod)));
  }
  const placement::Profile profile = placement::default_profile();
  sched::ExplainRing kept;
  std::uint64_t draw = 0;
  const SteadyTime begin = system_clock().steady();
  for (const placement::PodPointer& pod : waiting) {
    placement::DecideOptions options;
    options.draw = draw += 0x9e3779b97f4a7c15;  // the same in every run
    if (extra.explained) options.rows = 20;
    const placement::Decision decision = engine.decide(*pod, profile, options);
    if (extra.explained) kept.add(sched::describe_decision(engine, *pod, profile, decision, 3));
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
  if (argc != 3 && argc != 4) {
    fmt::print(stderr,
               "usage: sched_bench NODES PODS [SHAPE]\n\n"
               "prints decisions per second, one shape a line\n");
    return 2;
  }
  const auto nodes = parse_int<std::size_t>(argv[1]), pods = parse_int<std::size_t>(argv[2]);
  if (!nodes || !pods) {
    fmt::print(stderr, "sched_bench: two numbers, please\n");
    return 2;
  }
  auto measure = [&](std::string_view name, const bench::SchedShape& shape, bench::Extra extra) {
    if (argc == 3 || name == argv[3])
      fmt::print("{}\t{:.0f}\n", name, bench::decisions_per_second(shape, extra, *nodes, *pods));
  };
  for (const bench::SchedShape& shape : bench::kSchedShapes) measure(shape.name, shape, {});
  const bench::SchedShape& basic = bench::kSchedShapes[0];
  measure("basic-explained", basic, {.explained = true});
  measure("one-service", basic, {.services = 1});
  measure("500-services", basic, {.services = 500});
}
