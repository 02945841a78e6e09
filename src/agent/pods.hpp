// Pods as a kubelet or an API server lists them, as far as the agent looks at them.
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
  std::vector<std::string> uid_candidates = {};  // under which its cgroup may be, the best first
  std::vector<std::pair<std::string, std::string>> labels = {};
  node::Qos qos = node::Qos::best_effort;
  std::vector<PodContainer> containers = {};  // that run, in the order of their statuses
  bool all_ready = false;
  std::map<std::string, double> resources = {};
};

struct PodsAnswer {
  std::vector<PodFacts> pods;
  std::vector<std::string> mistakes;  // of pods and entries that were left out, for the log
};

// A list that is no list is an error; a pod or an amount that makes no sense is only left out.
// `body` may be given room at its end.
Result<PodsAnswer> decode_pod_list(std::string& body);

// Kubernetes' amounts as doubles: "250m" is 0.25. WCA's "1K" is 1000.
Result<double> amount_of(std::string_view quantity);

}  // namespace plim::agent
