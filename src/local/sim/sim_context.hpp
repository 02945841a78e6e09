// The objects that the parts of a simulation share.
#pragma once

#include "base/clock.hpp"
#include "base/random.hpp"
#include "local/sim/jobs.hpp"
#include "local/sim/sim_api.hpp"
#include "local/sim/simulator.hpp"

namespace plim::local::sim {

// All of them outlive the parts. Belongs to the simulation's loop.
struct SimContext {
  Clock& clock;
  const SimulatorOptions& options;
  Random& random;
  SimApi& api;
  Jobs& jobs;
  Simulator::Stats& stats;
};

}  // namespace plim::local::sim
