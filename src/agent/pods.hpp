// Pods of the lists of a kubelet or API server, with the fields that the agent uses.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "node/cgroup_names.hpp"

namespace plim::agent {

struct PodContainer {
  std::string name, runtime, id;  // of "containerd://abc"
};

struct PodFacts {
  std::string uid, name, ns, host_ip;
  std::vector<std::string> uid_candidates = {};  // possible uids in its cgroup path, best first
  std::vector<std::pair<std::string, std::string>> labels = {};
  node::Qos qos = node::Qos::best_effort;
  std::vector<PodContainer> containers = {};  // running ones, in the order of their statuses
  bool all_ready = false;
  std::map<std::string, double> resources = {};
};

struct PodsAnswer {
  std::vector<PodFacts> pods;
  std::vector<std::string> mistakes;  // why pods or entries were left out, for the log
};

// Fails if the body is not a list; only leaves out pods or amounts that cannot be read. May grow
// the capacity of `body`.
Result<PodsAnswer> decode_pod_list(std::string& body);

// Kubernetes' amounts as doubles: "250m" is 0.25. WCA's "1K" is 1000.
Result<double> amount_of(std::string_view quantity);

}  // namespace plim::agent
