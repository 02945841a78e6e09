// What a simulation remembers about one node.
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
  std::uint32_t reports = 0;  // how many were written
  std::int64_t contents = 0;  // how often they differed from the one before
  std::size_t last = 0;       // a hash of the last one, without its time
  bool writing = false;
  bool outdated = false;  // the one being written is out of date already
};

// NodePlayer writes the rest.
struct SimNode : Tracked {
  std::string address;
  bool has_lease = false;
  bool report_planned = false;        // of its images
  std::unique_ptr<SimImages> images;  // null: none and no pulls yet
  InventoryState inventory;
};

using SimNodes = kube::TextMap<SimNode>;  // by name

}  // namespace plim::local::sim
