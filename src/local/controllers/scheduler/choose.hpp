// The decision itself: which node takes a pod, or why none does. Pure; the texts are those of the
// stock scheduler, which people and tools search for.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kube/types.hpp"
#include "local/controllers/scheduler/demand.hpp"
#include "local/controllers/scheduler/rules.hpp"

namespace plim::local::controllers::scheduler {

// A pod that counts for its node, with what others have to look at.
struct PlacedPod {
  explicit PlacedPod(std::shared_ptr<const kube::Pod> placed);

  std::shared_ptr<const kube::Pod> pod;
  Demand demand;
  std::vector<kube::HostPort> ports;
  std::vector<PodTerm> apart;
};

// A node with everything that was placed there.
class NodeState {
 public:
  explicit NodeState(std::shared_ptr<const kube::Node> node);

  void set_node(std::shared_ptr<const kube::Node> node);
  void add(std::shared_ptr<const PlacedPod> pod);
  void remove(const PlacedPod& pod);  // by its uid

  const kube::Node& node() const { return *node_; }

  const Demand& allocatable() const { return allocatable_; }

  const Demand& used() const { return used_; }

  const std::vector<std::shared_ptr<const PlacedPod>>& pods() const { return pods_; }

  bool has_pods_apart() const { return apart_pods_ > 0; }

 private:
  std::shared_ptr<const kube::Node> node_;
  Demand allocatable_, used_;
  std::size_t apart_pods_ = 0;  // with a required anti-affinity
  std::vector<std::shared_ptr<const PlacedPod>> pods_;
};

struct Choice {
  std::string node = {};     // "" for none
  std::string why_not = {};  // "0/3 nodes are available: 3 Insufficient cpu."
  std::size_t looked_at = 0;
};

// Looks at the nodes from `first` on, around, until enough of them would do (on large clusters not
// all), and takes the best: least filled, preferred, fewest pods of the same owner.
Choice choose_node(const kube::Pod& pod, std::span<const NodeState* const> nodes,
                   std::size_t first = 0);

}  // namespace plim::local::controllers::scheduler
