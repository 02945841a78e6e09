// The flags by which agent and scheduler are told of an etcd.
#pragma once

#include "cli/run.hpp"
#include "kube/etcd.hpp"

namespace plim::cli {

// No endpoints where --etcd-endpoints is not given.
Outcome<kube::EtcdOptions> etcd_options(const Context& context);

}  // namespace plim::cli
