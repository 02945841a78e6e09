#include "cli/local_roles.hpp"

#include <string>

#include "base/files.hpp"
#include "local/cluster/directories.hpp"

namespace plim::cli {

json::object local_roles(const Context& context) {
  std::string kubeconfig = context.values.text("kubeconfig");
  if (kubeconfig.empty()) kubeconfig = context.world.env("KUBECONFIG").value_or("");
  for (const local::ClusterDirectories& directories : local::known_clusters(context.world.env)) {
    auto text = read_file(directories.endpoints());
    auto value = text ? parse_json(*text) : json::value();
    if (!value || !local::holder_of(directories.lock())) continue;
    const bool is_meant = kubeconfig.empty() ? directories.name == "default"
                                             : text_at(*value, {"kubeconfig"}) == kubeconfig;
    const json::value* roles = find(*value, {"roles"});
    if (is_meant && roles != nullptr && roles->is_object()) return roles->get_object();
  }
  return {};
}

}  // namespace plim::cli
