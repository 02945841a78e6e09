// The state that a simulation keeps for one node.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kube/store.hpp"
#include "local/sim/jobs.hpp"
#include "local/sim/sim_images.hpp"

namespace plim::local::sim {

// Only InventoryReporter writes it.
struct InventoryState {
  std::uint32_t reports = 0;  // number of reports written
  std::int64_t contents = 0;  // how often a report differed from the previous one
  std::size_t last = 0;       // hash of the last report, without its time
  bool writing = false;
  bool outdated = false;  // the images have changed since the write began
};

// NodePlayer writes the rest.
struct SimNode : Tracked {
  std::string address;
  bool has_lease = false;
  bool report_planned = false;        // a report of its images
  std::unique_ptr<SimImages> images;  // null: no images and no pulls yet
  InventoryState inventory;
};

using SimNodes = kube::TextMap<SimNode>;  // by name

}  // namespace plim::local::sim
