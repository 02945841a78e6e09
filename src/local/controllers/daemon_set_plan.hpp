// Plans on which nodes a DaemonSet has pods and which pods are replaced. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "local/controllers/owned_object.hpp"

namespace plim::local::controllers {

inline constexpr std::string_view kRevisionHash = "controller-revision-hash";

// A pod of this DaemonSet for `node`: node affinity makes the scheduler place it there, and it
// tolerates the taints of nodes that are unfit for others. Without a node: a pod to test nodes.
json::value daemon_pod(const Object& daemon_set, std::string_view revision_hash,
                       std::string_view node);

struct DaemonInput {
  ObjectPointer daemon_set;
  std::vector<PodPointer> pods;
  std::vector<NodePointer> nodes;
  std::string revision_hash;  // of the current template
  // When the failed pod on a node may be replaced; nodes without a failure have no entry.
  std::map<std::string, WallTime> retry_from = {};
};

struct DaemonPlan {
  std::vector<std::string> create = {};  // names of nodes
  std::vector<PodPointer> remove = {};
  std::vector<PodPointer> failed = {};  // a part of `remove`: pods that have failed
  json::value status = {};
  std::optional<WallTime> look_again = {};
};

inline constexpr std::size_t kDaemonBurst = 250;

DaemonPlan plan_daemon_set(const DaemonInput& input, WallTime now);

// The node that the pod is on or was created for; "" if neither is known.
std::string node_of_daemon_pod(const kube::Pod& pod);

}  // namespace plim::local::controllers
