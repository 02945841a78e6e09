// Acts as the kubelets of simulated nodes: ready nodes, leases, images.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/store.hpp"
#include "kube/types.hpp"
#include "local/sim/inventory_reporter.hpp"
#include "local/sim/sim_context.hpp"
#include "local/sim/sim_images.hpp"
#include "local/sim/simulated_node.hpp"
#include "local/sim/stage_runner.hpp"

namespace plim::local::sim {

// Owns the state of simulated nodes. Belongs to the simulation's loop; context, store and stages
// outlive it.
class NodePlayer {
 public:
  NodePlayer(const SimContext& context, const kube::Store<kube::Node>& objects,
             StageRunner& stages);

  // The object was added or has changed. True: it is a simulated node seen for the first time.
  bool see(const kube::Node& node);

  void forget(std::string_view name) { nodes_.erase(std::string(name)); }

  // Call it after see().
  void plan(const kube::Node& node);

  bool plays(std::string_view name) const { return nodes_.find(name) != nodes_.end(); }

  std::size_t size() const { return nodes_.size(); }

  std::string host_ip_of(std::string_view name) const;  // "" if the node is not simulated
  // The time until the slowest of the pod's images is on its node.
  Result<Nanos> pull_images(const kube::Pod& pod);

  // One function for each kind of job.
  Task<void> make(Job job);
  Task<void> act(Job job);
  Task<void> renew_lease(Job job);
  Task<void> report_images(Job job);

  InventoryReporter& inventories() { return inventories_; }

 private:
  void take_images(const kube::Node& node, SimNode& sim);
  void plan_one(const kube::Node& node, SimNode& sim);
  Task<Result<void>> change(std::shared_ptr<const kube::Node> node, const Stage* stage,
                            std::string address);
  void finish(Job job, const Result<void>& done);

  SimContext sim_;
  const kube::Store<kube::Node>& objects_;
  StageRunner& stages_;
  bool has_stages_;
  SharedCatalog catalog_;
  SimNodes nodes_;
  InventoryReporter inventories_;
  std::uint32_t addresses_ = 0;  // addresses assigned so far
};

}  // namespace plim::local::sim
