#include "kube/client.hpp"
#include "net/http.hpp"

namespace plim::kube {
namespace resources {

const Resource pods{"", "v1", "pods", "Pod"};
const Resource nodes{"", "v1", "nodes", "Node", false};
const Resource namespaces{"", "v1", "namespaces", "Namespace", false};
const Resource services{"", "v1", "services", "Service"};
const Resource config_maps{"", "v1", "configmaps", "ConfigMap"};
const Resource secrets{"", "v1", "secrets", "Secret"};
const Resource service_accounts{"", "v1", "serviceaccounts", "ServiceAccount"};
const Resource events{"", "v1", "events", "Event"};
const Resource endpoints{"", "v1", "endpoints", "Endpoints"};
const Resource deployments{"apps", "v1", "deployments", "Deployment"};
const Resource replica_sets{"apps", "v1", "replicasets", "ReplicaSet"};
const Resource daemon_sets{"apps", "v1", "daemonsets", "DaemonSet"};
const Resource jobs{"batch", "v1", "jobs", "Job"};
const Resource leases{"coordination.k8s.io", "v1", "leases", "Lease"};
const Resource custom_resource_definitions{
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", false};
const Resource mutating_webhook_configurations{"admissionregistration.k8s.io", "v1",
                                               "mutatingwebhookconfigurations",
                                               "MutatingWebhookConfiguration", false};
const Resource validating_webhook_configurations{"admissionregistration.k8s.io", "v1",
                                                 "validatingwebhookconfigurations",
                                                 "ValidatingWebhookConfiguration", false};

}  // namespace resources

std::string api_version(const Resource& resource) {
  if (resource.group.empty()) return resource.version;
  return resource.group + '/' + resource.version;
}

std::string api_path(const Resource& resource, const ObjectPath& path) {
  std::string out = resource.group.empty() ? "/api/" : "/apis/";
  auto append = [&](std::string_view segment) {
    if (!out.ends_with('/')) out += '/';
    out += net::percent_encode(segment);
  };
  if (!resource.group.empty()) append(resource.group);
  append(resource.version);
  if (resource.namespaced && !path.ns.empty()) {
    append("namespaces");
    append(path.ns);
  }
  append(resource.plural);
  if (path.name.empty()) return out;
  append(path.name);
  // Keep slashes: a sub-resource may contain a path, such as the proxy of a Service.
  for (std::string_view rest = path.subresource; !rest.empty();) {
    const std::string_view segment = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(rest.size(), segment.size() + 1));
    append(segment);
  }
  return out;
}

}  // namespace plim::kube
