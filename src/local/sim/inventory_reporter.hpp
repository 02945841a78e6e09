// The NodeImageInventory of every simulated node. On a real node its agent publishes it.
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
  // Job::What::inventory. Without a number because something has changed; with one, because the
  // report of that number has become old.
  Task<void> report(Job job);
  // Job::What::kinds: somebody may define the kind at any time. One question for all nodes.
  Task<void> look_for_kind();

 private:
  void complete(const SimNode& node, loop::ImageInventory& inventory) const;
  Task<Result<void>> write(std::string node, std::string uid, loop::ImageInventory inventory);
  void finish(Job job, InventoryState& state, const Result<void>& written);

  SimContext sim_;
  SimNodes& nodes_;
  bool kind_exists_ = true;  // as far as we know
};

}  // namespace plim::local::sim
