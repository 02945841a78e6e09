// Reaching the cluster that the flags choose.
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

// One request, its answer whatever the status; the loop runs inside. A failing connection is a
// failure.
Result<net::Response> ask(const kube::Config& config, net::Request request,
                          std::chrono::milliseconds timeout);

Result<roles::ServerVersion> server_version(const kube::Config& config,
                                            std::chrono::milliseconds timeout);

// The range of Kubernetes versions this program is made for.
inline constexpr int kOldestMinor = 29;
inline constexpr int kNewestMinor = 36;
// Why this server is outside of the range; "" when it is inside.
std::string range_warning(const roles::ServerVersion& version);

}  // namespace plim::cli
