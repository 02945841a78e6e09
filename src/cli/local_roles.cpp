#include "cli/local_roles.hpp"

#include <string>

#include "base/files.hpp"

namespace plim::cli {
namespace {

struct Meant {
  local::cluster::ClusterDirectories directories;
  json::value endpoints;
};

std::optional<Meant> meant_cluster(const Context& context) {
  std::string kubeconfig = context.values.text("kubeconfig");
  if (kubeconfig.empty()) kubeconfig = context.world.env("KUBECONFIG").value_or("");
  for (const local::cluster::ClusterDirectories& directories :
       local::cluster::known_clusters(context.world.env)) {
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

json::object local_roles(const Context& context) {
  const auto meant = meant_cluster(context);
  const json::value* roles = meant ? find(meant->endpoints, {"roles"}) : nullptr;
  return roles != nullptr && roles->is_object() ? roles->get_object() : json::object();
}

std::optional<local::cluster::ClusterDirectories> cluster_of_kubeconfig(const Context& context) {
  auto meant = meant_cluster(context);
  if (!meant) return std::nullopt;
  return std::move(meant->directories);
}

}  // namespace plim::cli
