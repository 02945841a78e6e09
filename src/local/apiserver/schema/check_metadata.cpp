#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/text.hpp"
#include "kube/paths.hpp"
#include "local/apiserver/schema/checks.hpp"
#include "local/apiserver/schema/name_rules.hpp"
#include "local/apiserver/schema/schema.hpp"

namespace plim::local::apiserver {
namespace {

constexpr std::size_t kMaxAnnotationBytes = 256 * 1024;

// A generateName may end with a dash, since the random part follows it.
std::string with_ending(std::string_view prefix) {
  std::string out(prefix);
  if (out.size() > 1 && out.back() == '-') out.back() = 'a';
  return out;
}

void check_names(NameRule rule, const json::value& object, Causes& causes) {
  std::string_view prefix = kube::text_at(object, "Object.metadata.generateName");
  if (!prefix.empty())
    causes.invalid_text("metadata.generateName", prefix, rule(with_ending(prefix)));
  std::string_view name = kube::text_at(object, "Object.metadata.name");
  if (!name.empty()) causes.invalid_text("metadata.name", name, rule(name));
  if (name.empty() && prefix.empty())
    causes.required("metadata.name", "name or generateName is required");
  std::string_view space = kube::text_at(object, "Object.metadata.namespace");
  if (!space.empty()) causes.invalid_text("metadata.namespace", space, check_dns_label(space));
}

void check_owners(const json::value& object, Causes& causes) {
  const std::string path = "metadata.ownerReferences";
  std::string controller;
  std::size_t index = 0;
  for (const json::value& owner : kube::list_at(object, "Object.metadata.ownerReferences")) {
    for (std::string_view field : {"apiVersion", "kind", "name", "uid"})
      if (text_at(owner, {field}).empty())
        causes.required(fmt::format("{}[{}].{}", path, index, field), "must not be empty");
    ++index;
    if (!kube::bool_at(owner, "OwnerReference.controller")) continue;
    std::string name = fmt::format("{}/{}", kube::text_at(owner, "OwnerReference.kind"),
                                   kube::text_at(owner, "OwnerReference.name"));
    if (!controller.empty())
      causes.invalid(path, value_at(object, {"metadata", "ownerReferences"}),
                     fmt::format("Only one reference can have Controller set to true. Found "
                                 "\"true\" in references for {} and {}",
                                 controller, name));
    else
      controller = name;
  }
}

// False for custom resources and their definitions.
bool has_checked_finalizers(std::string_view group, std::string_view kind) {
  return find_type(group, "v1", kind) != nullptr && group != "apiextensions.k8s.io";
}

void check_finalizer_domains(const json::value& object, Causes& causes) {
  std::size_t index = 0;
  for (const json::value& finalizer : kube::list_at(object, "Object.metadata.finalizers")) {
    const std::string path = fmt::format("metadata.finalizers[{}]", index++);
    if (!finalizer.is_string()) continue;
    std::string_view name = finalizer.get_string();
    bool is_standard = name == "orphan" || name == "foregroundDeletion" || name == "kubernetes";
    if (!is_standard && name.find('/') == name.npos)
      causes.invalid(path, finalizer,
                     "name is neither a standard finalizer name nor is it fully qualified");
  }
}

void check_finalizers(const json::value& object, const json::value* before, Causes& causes) {
  const std::string path = "metadata.finalizers";
  const json::array& finalizers = kube::list_at(object, "Object.metadata.finalizers");
  std::string added;
  for (const json::value& finalizer : finalizers) {
    if (!finalizer.is_string()) continue;
    std::string_view name = finalizer.get_string();
    causes.invalid_text(path, name, check_qualified_name(name));
    if (before == nullptr) continue;
    const json::array& old = kube::list_at(*before, "Object.metadata.finalizers");
    if (std::find(old.begin(), old.end(), finalizer) == old.end())
      added += fmt::format("{}\"{}\"", added.empty() ? "" : ", ", name);
  }
  bool is_deleting =
      before != nullptr && !kube::text_at(*before, "Object.metadata.deletionTimestamp").empty();
  if (is_deleting && !added.empty())
    causes.forbidden(path, fmt::format("no new finalizers can be added if the object is being "
                                       "deleted, found new finalizers []string{{{}}}",
                                       added));
}

}  // namespace

void check_labels(const Place& labels, Causes& causes) {
  for (const auto& label : labels.map("")) {
    Messages messages = check_qualified_name(label.key());
    if (!messages.empty()) causes.invalid_text(labels.path(), label.key(), messages);
    if (!label.value().is_string()) continue;
    std::string_view value = label.value().get_string();
    messages = check_label_text(value);
    if (!messages.empty()) causes.invalid_text(labels.path(), value, messages);
  }
}

void check_annotations(const Place& annotations, Causes& causes) {
  std::size_t bytes = 0;
  for (const auto& annotation : annotations.map("")) {
    Messages messages = check_qualified_name(to_lower(annotation.key()));
    if (!messages.empty()) causes.invalid_text(annotations.path(), annotation.key(), messages);
    bytes += annotation.key().size();
    if (annotation.value().is_string()) bytes += annotation.value().get_string().size();
  }
  if (bytes > kMaxAnnotationBytes) causes.too_long(annotations.path(), kMaxAnnotationBytes);
}

void check_metadata(std::string_view group, std::string_view kind, const json::value& object,
                    const json::value* before, Causes& causes) {
  check_names(name_rule(group, kind), object, causes);
  const Place root(object);
  check_labels(root.in("metadata.labels"), causes);
  check_annotations(root.in("metadata.annotations"), causes);
  check_owners(object, causes);
  check_finalizers(object, before, causes);
  if (has_checked_finalizers(group, kind)) check_finalizer_domains(object, causes);
}

}  // namespace plim::local::apiserver
