// Writes the NodeImageInventory of every simulated node. On a real node the agent publishes it.
#pragma once

#include <string>

#include "base/result.hpp"
#include "base/task.hpp"
#include "local/sim/sim_context.hpp"
#include "local/sim/simulated_node.hpp"
#include "loop/image_inventory.hpp"

namespace plim::local::sim {

// Belongs to the simulation's loop; context and nodes outlive it.
class InventoryReporter {
 public:
  InventoryReporter(const SimContext& context, SimNodes& nodes) : sim_(context), nodes_(nodes) {}

  // The images of the node have changed.
  void plan(const std::string& node);
  // Runs Job::What::inventory. Number 0: the images have changed. Any other number: write the
  // report
  // again, because the report with that number has become old.
  Task<void> report(Job job);
  // Runs Job::What::kinds: a user may define the kind at any time. One request for all nodes.
  Task<void> look_for_kind();

 private:
  void complete(const SimNode& node, loop::ImageInventory& inventory) const;
  Task<Result<void>> write(std::string node, std::string uid, loop::ImageInventory inventory);
  void finish(Job job, InventoryState& state, const Result<void>& written);

  SimContext sim_;
  SimNodes& nodes_;
  bool kind_exists_ = true;  // as of the last request
};

}  // namespace plim::local::sim
