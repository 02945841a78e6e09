// The nodes and pods with which schedulers are measured: the same in memory and on an API server.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace plim::bench {

// After the workloads of scheduler_perf with that name.
struct SchedShape {
  std::string_view name;
  std::string_view spec;  // what its pods have beside a container, as JSON
};

inline constexpr SchedShape kSchedShapes[] = {
    {"basic", "{}"},
    {"node-affinity",
     R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
        {"matchExpressions":[{"key":"topology.kubernetes.io/zone","operator":"In","values":["zone-0","zone-1"]}]}]}}}})"},
    {"pod-affinity",
     R"({"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
        {"labelSelector":{"matchLabels":{"app":"plimsoll-load"}},"topologyKey":"topology.kubernetes.io/zone"}]}}})"},
    {"topology-spreading",
     R"({"topologySpreadConstraints":[{"maxSkew":5,"topologyKey":"topology.kubernetes.io/zone",
        "whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"plimsoll-load"}}}]})"},
};

// A node that is an object only, in one of three zones.
std::string fake_node_text(std::size_t index);
std::string waiting_pod_text(std::size_t index, const SchedShape& shape);

}  // namespace plim::bench
