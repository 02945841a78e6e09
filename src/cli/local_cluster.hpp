// What the commands of the local cluster share: finding it and asking it.
#pragma once

#include <chrono>
#include <string>
#include <sys/types.h>

#include "base/json.hpp"
#include "cli/run.hpp"
#include "local/cluster/directories.hpp"

namespace plim::cli {

// By --name and --dir.
Outcome<local::cluster::ClusterDirectories> directories_of(const Context& context);
// The process of the cluster, or the failure that it does not run.
Outcome<pid_t> running_pid(const local::cluster::ClusterDirectories& directories);

// One call on the control socket of a running cluster; `body` null: a GET.
Outcome<json::value> ask_cluster(const local::cluster::ClusterDirectories& directories,
                                 std::string path, json::value body = nullptr,
                                 std::chrono::milliseconds timeout = std::chrono::seconds(30));

// Ends the process of the cluster and waits for it; false: it did not run, but pods that it had
// left behind have ended too. Exit 5 when it takes longer.
Outcome<bool> stop_cluster(const local::cluster::ClusterDirectories& directories,
                           std::chrono::milliseconds timeout);

// How a failure of src/local looks to people.
Failure local_failure(const Error& error);

}  // namespace plim::cli
