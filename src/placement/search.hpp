// The first half of a decision: which nodes can take the pod. Made anew for each decision.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "placement/cycle.hpp"

namespace plim::placement {

class Search {
 public:
  explicit Search(Cycle& cycle) : cycle_(cycle) {}

  // What stock calls preFilter; false when it ends the decision, see Cycle::failure.
  bool prepare();

  // Judges all live nodes, as pods of the same class remember them. `verdicts` has a place for
  // every row.
  void run();
  // As many of them, in this order from `start` on and around, until more than `enough` fit. Those
  // past the last that is needed count as not looked at. Returns how many were looked at.
  std::size_t run_until(std::size_t enough, const std::vector<NodeIndex>& order, std::size_t start);

  // One node as in run(): with the pods nominated there, and without.
  Verdict check(NodeIndex row);
  // One node, nobody imagined in.
  Verdict check_as_is(NodeIndex row);

  // What the plugin's filter compares on the row, "" where it does not tell.
  std::string describe(PluginId plugin, NodeIndex row) const;

  // Imagines a pod on the row (1) or away from it (-1), for the filters too.
  void imagine(const PodRecord& record, NodeIndex row, int sign);

  std::vector<NodeIndex> feasible;
  std::vector<Verdict> verdicts;  // by row; kFits also for rows that were not looked at

 private:
  std::unique_ptr<Filter> prepare_plugin(PluginId plugin);
  bool must_yield(const PodRecord& nominated) const;
  bool has_nominated(NodeIndex row) const;
  void look_at(std::vector<NodeIndex> rows);
  void judge_rest(std::vector<NodeIndex> rows, const std::vector<NodeIndex>& with_nominated);

  Cycle& cycle_;
  std::vector<FilterStep> steps_;  // in the order of the profile's filters
  std::size_t by_row_ = 0;         // so many of them, from the first, are the class's
};

}  // namespace plim::placement
