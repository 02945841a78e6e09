#include "roles/local_roles.hpp"

#include <string>

#include "base/files.hpp"

namespace plim::roles {
namespace {

struct Meant {
  local::cluster::ClusterDirectories directories;
  json::value endpoints;
};

std::optional<Meant> meant_cluster(std::string kubeconfig, const kube::GetEnv& env) {
  if (kubeconfig.empty()) kubeconfig = env("KUBECONFIG").value_or("");
  for (const local::cluster::ClusterDirectories& directories :
       local::cluster::known_clusters(env)) {
    auto text = read_file(directories.endpoints());
    auto value = text ? parse_json(*text) : json::value();
    if (!value || !local::cluster::holder_of(directories.lock())) continue;
    const bool is_meant = kubeconfig.empty() ? directories.name == "default"
                                             : text_at(*value, {"kubeconfig"}) == kubeconfig;
    if (is_meant) return Meant{.directories = directories, .endpoints = std::move(*value)};
  }
  return std::nullopt;
}

}  // namespace

json::object local_roles(std::string kubeconfig, const kube::GetEnv& env) {
  const auto meant = meant_cluster(std::move(kubeconfig), env);
  const json::value* roles = meant ? find(meant->endpoints, {"roles"}) : nullptr;
  return roles != nullptr && roles->is_object() ? roles->get_object() : json::object();
}

std::optional<local::cluster::ClusterDirectories> cluster_of_kubeconfig(std::string kubeconfig,
                                                                        const kube::GetEnv& env) {
  auto meant = meant_cluster(std::move(kubeconfig), env);
  if (!meant) return std::nullopt;
  return std::move(meant->directories);
}

}  // namespace plim::roles
