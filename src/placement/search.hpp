// The first half of a decision: which nodes fit the pod. Made for one decision.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "placement/cycle.hpp"

namespace plim::placement {

class Search {
 public:
  explicit Search(Cycle& cycle) : cycle_(cycle) {}

  // The PreFilter step of kube-scheduler; false if it ends the decision, see Cycle::failure.
  bool prepare();

  // Judges all live nodes, with what the pod's class has cached. Sets `verdicts` for every row.
  void run();
  // Judges nodes in this order, from `start` on and around, until more than `enough` fit. Nodes
  // after the last one that is needed count as not checked. Returns how many were checked.
  std::size_t run_until(std::size_t enough, const std::vector<NodeIndex>& order, std::size_t start);

  // Judges one node as run() does: with the pods nominated for it, and without.
  Verdict check(NodeIndex row);
  // Judges one node without the pods nominated for it.
  Verdict check_as_is(NodeIndex row);

  // What the plugin's filter compares on the row; "" if it gives no details.
  std::string describe(PluginId plugin, NodeIndex row) const;

  // Adds a pod to the row (1) or removes it (-1), in the tables and in the filters, until the
  // caller undoes it.
  void imagine(const PodRecord& record, NodeIndex row, int sign);

  std::vector<NodeIndex> feasible;
  std::vector<Verdict> verdicts;  // by row; kFits also for rows that were not checked

 private:
  std::unique_ptr<Filter> prepare_plugin(PluginId plugin);
  bool must_yield(const PodRecord& nominated) const;
  bool has_nominated(NodeIndex row) const;
  void look_at(std::vector<NodeIndex> rows);
  void judge_rest(std::vector<NodeIndex> rows, const std::vector<NodeIndex>& with_nominated);

  Cycle& cycle_;
  std::vector<FilterStep> steps_;  // in the order of the profile's filters
  std::size_t by_row_ = 0;         // how many of the first filters the class has cached
};

}  // namespace plim::placement
