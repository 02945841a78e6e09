// Asks the engine where a pod goes and which pods to evict for it, and reports each decision to
// metrics, log and explain.
#pragma once

#include <cstdint>
#include <functional>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "sched/pod_try.hpp"
#include "sched/vocabulary.hpp"

namespace plim::sched {

// One decision as explain wants it, reported right after it was made.
struct DecisionNote {
  PodPointer pod;
  const Profile* profile = nullptr;
  const Decision* decision = nullptr;
  const PostFilterOutcome* post_filter = nullptr;  // null: a node was found, or extenders decide
  const Engine* engine = nullptr;
  int attempt = 0;
  WallTime started{};
  Nanos took{0};
};

struct DeciderOptions {
  std::uint64_t seed = 0;  // of the draws between equal nodes
  bool annotate_decisions = false;
  bool explain_all_nodes = false;
};

// Changes nothing in the engine. Belongs to one loop.
class Decider {
 public:
  using OnDecision = std::function<void(const DecisionNote&)>;

  Decider(const TryContext& context, DeciderOptions options);

  void on_decision(OnDecision callback) { on_decision_ = std::move(callback); }

  // With a new draw.
  DecideOptions options_for(const PodTry& current);
  Decision decide(const PodTry& current, DecideOptions options);

  PostFilterOutcome look_for_victims(const PodTry& current, const Decision& decision);

  // Call it before the engine changes: the decision holds indexes of the engine.
  void report(const PodTry& current, const Decision& decision,
              const PostFilterOutcome* outcome = nullptr);

 private:
  void log_scores(const kube::Pod& pod, const Decision& decision);

  DeciderOptions options_;
  SchedulerState& state_;
  const ClusterFeed& feed_;
  const ExtenderSet& extenders_;
  SchedulerMetrics& metrics_;
  Klog& klog_;
  Clock& clock_;
  SeededRandom draws_;
  OnDecision on_decision_;
};

}  // namespace plim::sched
