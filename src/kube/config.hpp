// The address of a cluster and the credentials for it, from kubeconfig files, flags and the
// in-cluster environment.
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
  // Credentials besides the client certificate in tls. The first that is set is used.
  std::string token_file = {};  // re-read when it changes, at least once a minute
  std::string token = {};       // used too while token_file cannot be read
  std::string username = {}, password = {};
  std::optional<ExecPlugin> exec = {};
  std::string impersonate_user = {}, impersonate_uid = {};
  std::vector<std::string> impersonate_groups = {};
  std::vector<std::pair<std::string, std::string>> impersonate_extra = {};  // a key may repeat
  // Client-side rate limit; 0: none.
  double qps = 50;
  int burst = 100;
  std::string source = {};  // for messages: "context kind-dev of ~/.kube/config"
};

// Flags that override the files; empty: not given.
struct ConfigOverrides {
  std::string kubeconfig = {};  // --kubeconfig: this file alone
  std::string context = {}, cluster = {}, user = {}, server = {}, ns = {};
};

// Looks as kubectl does: flags, the list in KUBECONFIG, ~/.kube/config, in-cluster. Reads
// environment variables through `getenv`, so that tests can set them.
using GetEnv = std::function<std::optional<std::string>(std::string_view name)>;
std::optional<std::string> process_environment(std::string_view name);
Result<Config> load_config(const ConfigOverrides& overrides,
                           const GetEnv& getenv = process_environment);
// Token, CA and namespace of the service account in a pod; not_found outside a pod.
Result<Config> in_cluster_config(const GetEnv& getenv = process_environment,
                                 std::string_view root = "");

}  // namespace plim::kube
