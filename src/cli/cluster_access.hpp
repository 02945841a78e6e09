// Connects to the cluster that the flags select.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "cli/run.hpp"
#include "kube/client.hpp"
#include "roles/server_version.hpp"

namespace plim::cli {

kube::ConfigOverrides overrides_of(const Values& values);
Outcome<kube::Config> cluster_config(const Context& context);

// Sends one request on a loop of its own and returns the response, whatever its status. Fails only
// if the connection fails.
Result<net::Response> ask(const kube::Config& config, net::Request request,
                          std::chrono::milliseconds timeout);

Result<roles::ServerVersion> server_version(const kube::Config& config,
                                            std::chrono::milliseconds timeout);

// The Kubernetes versions that this program supports.
inline constexpr int kOldestMinor = 35;
inline constexpr int kNewestMinor = 37;
// Says why the server is outside the range; "" if it is inside.
std::string range_warning(const roles::ServerVersion& version);

}  // namespace plim::cli
