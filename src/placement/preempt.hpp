// Which pods to evict for a pod that fits on no node: kube-scheduler's DefaultPreemption as a
// function.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "placement/cluster_tables.hpp"
#include "placement/decision.hpp"

namespace plim::placement {

struct DisruptionBudget {
  std::string ns, name;
  kube::LabelSelector selector;  // an empty or missing selector matches no pod
  std::int64_t allowed = 0;
  std::vector<std::string> disrupted;  // names of pods the API server has counted already
};

struct PreemptionOptions {
  std::uint64_t draw = 0;  // where to begin; any number works
  WallTime now{};          // pods that have not started count as started now
};

struct PreemptionCandidate {
  std::string node;
  std::vector<PodPointer> victims;  // most important first
  std::int64_t budget_violations = 0;
};

struct Preemption {
  // Every possible node; extenders may remove some before best_candidate().
  std::vector<PreemptionCandidate> candidates;
  std::optional<std::size_t> best;  // place in `candidates`
  std::string message;              // "preemption: …"; "" when there is a candidate
  // The pod's nominated node, if it has one, is no longer usable.
  bool clear_nomination = false;
};

// Fewest budget violations, then the lowest highest priority, the smallest sum of priorities, the
// fewest victims, the latest start of the most important ones, the first name.
std::optional<std::size_t> best_candidate(std::span<const PreemptionCandidate> candidates,
                                          WallTime now);

class Engine;

// Pods less important than `pod` that are nominated for the node. They may not fit there any more
// and should be scheduled again.
std::vector<PodPointer> nominated_below(const Engine& engine, const kube::Pod& pod,
                                        std::string_view node);

}  // namespace plim::placement
