// Nodes without processes. They and their pods report what real ones would report.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "local/images/image_catalog.hpp"
#include "local/images/images.hpp"
#include "local/sim/sim_node.hpp"
#include "local/sim/stage.hpp"
#include "node/pod_usage.hpp"

namespace plim::local::sim {

struct SimulatorOptions {
  int nodes = 0;  // created at the start: sim-1, sim-2, …
  NodeShape shape = {};
  std::vector<Stage> stages = {};  // used before the built-in behaviour
  // Pods wait until their images are pulled. Null: every image is present on every node.
  std::shared_ptr<const images::ImageCatalog> catalog = {};
  images::PullOptions pulls = {};
  int max_images = 50;                               // in a node's status
  Nanos image_report = std::chrono::seconds(1);      // after a pull
  Nanos inventory_report = std::chrono::minutes(8);  // repeated if nothing changes
  Nanos lease_interval = std::chrono::seconds(20);   // half of kLeaseSeconds
  std::size_t at_once = 256;                         // concurrent requests, which share disk syncs
};

class Simulation;

// Simulates every Node with the annotation plimsoll.io/sim: "true" or kwok's. Belongs to one
// loop; co_await stop() before destroying it.
class Simulator {
 public:
  struct Stats {
    std::uint64_t nodes_made = 0;
    std::uint64_t patches = 0;  // of statuses
    std::uint64_t leases = 0;
    std::uint64_t inventories = 0;  // written
    std::uint64_t removed = 0;
    std::uint64_t failures = 0;  // requests that failed and were retried
  };

  Simulator(const Executor& loop, const std::shared_ptr<kube::Client>& client, Clock& clock,
            SimulatorOptions options, Random& random = system_random());
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  // Returns when the requested nodes exist.
  Task<Result<void>> start();
  Task<void> stop();

  const Stats& stats() const;
  std::size_t nodes() const;
  // The simulated usage of a node's pods; none for other nodes.
  std::optional<node::NodeUsage> usage(std::string_view node) const;

 private:
  std::unique_ptr<Simulation> impl_;
};

}  // namespace plim::local::sim
