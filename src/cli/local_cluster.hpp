// Finds the local cluster and sends requests to it, for the commands that work on it.
#pragma once

#include <chrono>
#include <string>
#include <sys/types.h>

#include "base/json.hpp"
#include "cli/run.hpp"
#include "local/cluster/directories.hpp"

namespace plim::cli {

// Selected by --name and --dir.
Outcome<local::cluster::ClusterDirectories> directories_of(const Context& context);
// The process ID of the cluster; fails if the cluster is not running.
Outcome<pid_t> running_pid(const local::cluster::ClusterDirectories& directories);

// Sends one request to the control socket of a running cluster; a GET if `body` is null.
Outcome<json::value> ask_cluster(const local::cluster::ClusterDirectories& directories,
                                 std::string path, json::value body = nullptr,
                                 std::chrono::milliseconds timeout = std::chrono::seconds(30));

// Stops the process of the cluster and waits for its end. Returns false if it was not running; pods
// that it left running are stopped too. Fails with exit code 5 after `timeout`.
Outcome<bool> stop_cluster(const local::cluster::ClusterDirectories& directories,
                           std::chrono::milliseconds timeout);

}  // namespace plim::cli
