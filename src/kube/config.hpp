// How to reach a cluster and as whom: the outcome of kubeconfig files, flags and the in-cluster
// environment.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "net/tls.hpp"

namespace plim::kube {

struct ExecPlugin {
  std::string api_version;
  std::string command;
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;
  std::string install_hint;
  bool provide_cluster_info = false;
  std::string cluster_config;    // JSON for the plugin, from the cluster's extensions; may be empty
  std::string interactive_mode;  // Never, IfAvailable, Always
};

struct Config {
  std::string server;  // https://host:port[/prefix]
  net::ClientTls tls = {};
  std::string proxy = {};
  std::string ns = "default";
  // Credentials beside the client certificate in tls; at most one is used, in this order.
  std::string token_file = {};  // re-read when it changes, at least once a minute
  std::string token = {};       // also while token_file cannot be read
  std::string username = {}, password = {};
  std::optional<ExecPlugin> exec = {};
  std::string impersonate_user = {}, impersonate_uid = {};
  std::vector<std::string> impersonate_groups = {};
  std::vector<std::pair<std::string, std::string>> impersonate_extra = {};  // a key may repeat
  // Client-side rate limit; 0: none.
  double qps = 50;
  int burst = 100;
  std::string source = {};  // "context kind-dev of ~/.kube/config", for people
};

// What the command line may override; empty: not given.
struct ConfigOverrides {
  std::string kubeconfig = {};  // --kubeconfig: this file alone
  std::string context = {}, cluster = {}, user = {}, server = {}, ns = {};
};

// Flags, then KUBECONFIG's list, then ~/.kube/config, then in-cluster, as kubectl does. The lookups
// of environment variables go through `getenv`, so that tests own them.
using GetEnv = std::function<std::optional<std::string>(std::string_view name)>;
std::optional<std::string> process_environment(std::string_view name);
Result<Config> load_config(const ConfigOverrides& overrides,
                           const GetEnv& getenv = process_environment);
// The service account's token, CA and namespace in a pod; not_found outside of one.
Result<Config> in_cluster_config(const GetEnv& getenv = process_environment,
                                 std::string_view root = "");

}  // namespace plim::kube
