// Makes the record of a decision: asks the engine and describes its answer in words and numbers.
// Does not change the engine. Belongs to the engine's thread.
#pragma once

#include <cstdint>
#include <span>

#include "base/clock.hpp"
#include "kube/types.hpp"
#include "sched/explain_record.hpp"
#include "sched/vocabulary.hpp"

namespace plim::sched {

struct ExplainOptions {
  std::size_t rows = 20;                                      // scored nodes
  std::span<const placement::DisruptionBudget> budgets = {};  // what preemption must respect
  std::size_t samples = 3;                                    // rejected nodes to name per reason
  std::uint64_t draw = 0;                                     // decides between equals
  std::uint64_t version = 0;  // of the engine's state, 0 if the caller does not count
};

// Asks the engine, and runs the post-filter if it finds no node.
ExplainRecord explain(Engine& engine, const kube::Pod& pod, const Profile& profile, Clock& clock,
                      const ExplainOptions& options);

// What the decision about the pod would be now, with every node. A pod that has a node does not
// count while the others are checked. Afterwards the engine is as before. Extenders are not asked.
ExplainRecord explain_now(Engine& engine, const PodPointer& pod, Profile profile, Clock& clock,
                          std::span<const placement::DisruptionBudget> budgets);

// Describes a decision. Call it before the engine changes. Names up to `samples` rejected nodes per
// reason.
ExplainRecord describe_decision(const Engine& engine, const kube::Pod& pod, const Profile& profile,
                                Decision decision, std::size_t samples);

// Adds the result of the post-filter.
void describe_post_filter(const PostFilterOutcome& outcome, ExplainRecord& record);

// What the pod requested and the node had when `plugin` rejected it, such as "cpu: asks 2500m,
// 1500m of 4 free"; "" if the reason says enough.
std::string rejection_detail(const Engine& engine, const kube::Pod& pod, PluginId plugin,
                             NodeIndex node);

// Adds what ImageLocality saw on every node of the record, and the scores by kube-scheduler's
// formula.
void explain_locality(const Engine& engine, const kube::Pod& pod, const Profile& profile,
                      ExplainRecord& record);

}  // namespace plim::sched
