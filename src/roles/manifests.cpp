#include "roles/manifests.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "base/yaml.hpp"
#include "kube/paths.hpp"

namespace plim::roles {
namespace {

constexpr std::string_view kOurImage = "plimsoll:";

json::value* member(json::value* parent, std::string_view name) {
  if (parent == nullptr || !parent->is_object()) return nullptr;
  return parent->get_object().if_contains(name);
}

template <typename Change>
void for_each_in(json::value* list, Change change) {
  if (list == nullptr || !list->is_array()) return;
  for (json::value& item : list->get_array())
    if (item.is_object()) change(item);
}

// Sets the namespace of the object, of the service accounts it binds, and of the Service of a
// webhook.
void set_namespace(json::value& object, const std::string& ns) {
  json::value* metadata = member(&object, "metadata");
  if (metadata != nullptr && !is_cluster_scoped(kube::text_at(object, "Object.kind")))
    metadata->get_object()["namespace"] = ns;
  for_each_in(member(&object, "subjects"), [&ns](json::value& subject) {
    if (kube::text_at(subject, "Subject.kind") == "ServiceAccount")
      subject.get_object()["namespace"] = ns;
  });
  for_each_in(member(&object, "webhooks"), [&ns](json::value& webhook) {
    json::value* service = member(member(&webhook, "clientConfig"), "service");
    if (service != nullptr) service->get_object()["namespace"] = ns;
  });
}

void set_image(json::value& object, const std::string& image) {
  json::value* pod = member(member(member(&object, "spec"), "template"), "spec");
  for (std::string_view list : {"initContainers", "containers"})
    for_each_in(member(pod, list), [&image](json::value& container) {
      if (kube::text_at(container, "Container.image").starts_with(kOurImage))
        container.get_object()["image"] = image;
    });
}

json::value namespace_object(const std::string& name) {
  return json::object{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}};
}

}  // namespace

bool is_cluster_scoped(std::string_view kind) {
  constexpr std::array kKinds{std::string_view("Namespace"),
                              std::string_view("ClusterRole"),
                              std::string_view("ClusterRoleBinding"),
                              std::string_view("CustomResourceDefinition"),
                              std::string_view("MutatingWebhookConfiguration"),
                              std::string_view("ValidatingWebhookConfiguration"),
                              std::string_view("ValidatingAdmissionPolicy"),
                              std::string_view("ValidatingAdmissionPolicyBinding"),
                              std::string_view("PriorityClass")};
  return std::ranges::find(kKinds, kind) != kKinds.end();
}

std::vector<std::string> manifest_roles() {
  std::vector<std::string> out;
  for (const ManifestFile& file : manifest_files())
    if (std::ranges::find(out, file.role) == out.end()) out.emplace_back(file.role);
  return out;
}

Result<std::vector<json::value>> manifests_of(std::string_view role,
                                              const ManifestChanges& changes) {
  std::vector<json::value> out;
  std::set<std::string> namespaces;
  for (const ManifestFile& file : manifest_files()) {
    if (file.role != role) continue;
    PLIM_TRY(auto documents,
             parse_yaml_documents(file.text, fmt::format("{}/{}", role, file.name)));
    for (const YamlDocument& document : documents) {
      json::value object = document.value();
      if (!changes.ns.empty()) set_namespace(object, changes.ns);
      if (!changes.image.empty()) set_image(object, changes.image);
      if (std::string_view ns = kube::text_at(object, "Object.metadata.namespace"); !ns.empty())
        namespaces.emplace(ns);
      out.push_back(std::move(object));
    }
  }
  for (const std::string& ns : namespaces)
    if (ns != "default" && ns != "kube-system") out.insert(out.begin(), namespace_object(ns));
  return out;
}

}  // namespace plim::roles
