// What pods ask for and may use, as kube-scheduler tells it at /metrics/resources.
#pragma once

#include <string>

#include "kube/store.hpp"
#include "kube/types.hpp"

namespace plim::sched {

// A line per pod and resource, of pods that wait and of those that have a node.
std::string expose_pod_resources(const kube::Store<kube::Pod>& pods);

}  // namespace plim::sched
