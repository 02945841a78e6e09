// The requests and limits of pods, as kube-scheduler exposes them at /metrics/resources.
#pragma once

#include <string>

#include "kube/store.hpp"
#include "kube/types.hpp"

namespace plim::sched {

// One line per pod and resource, for waiting pods and for pods with a node.
std::string expose_pod_resources(const kube::Store<kube::Pod>& pods);

}  // namespace plim::sched
