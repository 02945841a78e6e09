// The content of kubeconfig files, before a context is chosen.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "kube/config.hpp"

namespace plim::kube {

// File names are absolute: each was relative to its kubeconfig file. Inline data is decoded.
struct KubeconfigCluster {
  std::string server;
  std::string tls_server_name;
  std::string proxy_url;
  // Why it cannot be used, with file and line. Reported only when this cluster is chosen.
  std::optional<Error> server_problem, proxy_problem;
  std::string ca_file, ca_data;
  bool insecure = false;
  std::string exec_config;  // JSON of the extension client.authentication.k8s.io/exec
};

struct KubeconfigUser {
  std::string certificate_file, certificate_data;
  std::string key_file, key_data;
  std::string token, token_file;
  std::string username, password;
  std::optional<ExecPlugin> exec;
  std::string auth_provider;  // name of an auth provider, which Kubernetes 1.26 removed
  std::string as, as_uid;
  std::vector<std::string> as_groups;
  std::vector<std::pair<std::string, std::string>> as_extra;
};

struct KubeconfigContext {
  std::string cluster, user, ns;
};

template <class T>
using Named = std::map<std::string, T, std::less<>>;

struct Kubeconfig {
  std::string current_context;
  Named<KubeconfigCluster> clusters;
  Named<KubeconfigUser> users;
  Named<KubeconfigContext> contexts;

  bool empty() const {
    return current_context.empty() && clusters.empty() && users.empty() && contexts.empty();
  }
};

// Relative names are relative to `file`; errors call the file `shown`. Unknown fields are ignored,
// as kubectl does.
Result<Kubeconfig> parse_kubeconfig(std::string_view text, std::string_view file,
                                    std::string_view shown);

// The merged files from which load_config() chooses.
Result<Kubeconfig> load_kubeconfig(const ConfigOverrides& overrides,
                                   const GetEnv& getenv = process_environment);

// As kubectl: entries of `into` win; entries of the same name are not merged field by field.
void merge(Kubeconfig& into, Kubeconfig later);

}  // namespace plim::kube
