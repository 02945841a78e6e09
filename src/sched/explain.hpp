// Makes the record of a decision: asks the engine, and says in words and numbers what it answered.
// Changes nothing. Belongs to the engine's thread.
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
  std::size_t samples = 3;    // refused nodes by name, of every reason
  std::uint64_t draw = 0;     // decides between equals
  std::uint64_t version = 0;  // of what the engine was told, where somebody counts
};

// Asks the engine, and what comes after when it finds no node.
ExplainRecord explain(Engine& engine, const kube::Pod& pod, const Profile& profile, Clock& clock,
                      const ExplainOptions& options);

// A decision that was made already, before anything has changed since. `samples` refused nodes of
// every reason are named.
ExplainRecord describe_decision(const Engine& engine, const kube::Pod& pod, const Profile& profile,
                                Decision decision, std::size_t samples);

// What was looked for after it had found no node.
void describe_post_filter(const PostFilterOutcome& outcome, ExplainRecord& record);

// What was asked and what was there when `plugin` refused the node, "" where the reason says it
// all: "cpu: asks 2500m, 1500m of 4 free".
std::string rejection_detail(const Engine& engine, const kube::Pod& pod, PluginId plugin,
                             NodeIndex node);

// What ImageLocality saw on every node of the record, and what kube-scheduler's formula would give.
void explain_locality(const Engine& engine, const kube::Pod& pod, const Profile& profile,
                      ExplainRecord& record);

}  // namespace plim::sched
