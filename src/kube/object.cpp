#include "kube/object.hpp"

#include <fmt/format.h>

#include "kube/paths.hpp"

namespace plim::kube {
namespace {

const json::array* references(const json::value& object) {
  const json::value* list = find(object, "Object.metadata.ownerReferences");
  return list ? list->if_array() : nullptr;
}

OwnerReference read_reference(const json::value& from) {
  OwnerReference out;
  out.api_version = text_at(from, "OwnerReference.apiVersion");
  out.kind = text_at(from, "OwnerReference.kind");
  out.name = text_at(from, "OwnerReference.name");
  out.uid = text_at(from, "OwnerReference.uid");
  out.controller = bool_at(from, "OwnerReference.controller");
  out.block_owner_deletion = bool_at(from, "OwnerReference.blockOwnerDeletion");
  return out;
}

json::value write_reference(const OwnerReference& owner) {
  json::object out{{"apiVersion", owner.api_version},
                   {"kind", owner.kind},
                   {"name", owner.name},
                   {"uid", owner.uid}};
  if (owner.controller) out["controller"] = true;
  if (owner.block_owner_deletion) out["blockOwnerDeletion"] = true;
  return out;
}

}  // namespace

std::string_view name_of(const json::value& object) {
  return text_at(object, "Object.metadata.name");
}

std::string_view namespace_of(const json::value& object) {
  return text_at(object, "Object.metadata.namespace");
}

std::string_view uid_of(const json::value& object) {
  return text_at(object, "Object.metadata.uid");
}

std::string_view resource_version_of(const json::value& object) {
  return text_at(object, "Object.metadata.resourceVersion");
}

std::string_view label_of(const json::value& object, std::string_view key) {
  return text_at(object, {"metadata", "labels", key});
}

std::string_view annotation_of(const json::value& object, std::string_view key) {
  return text_at(object, {"metadata", "annotations", key});
}

bool is_being_deleted(const json::value& object) {
  return !text_at(object, "Object.metadata.deletionTimestamp").empty();
}

std::string key_of(const json::value& object) {
  const std::string_view ns = namespace_of(object);
  if (ns.empty()) return std::string(name_of(object));
  return fmt::format("{}/{}", ns, name_of(object));
}

std::vector<OwnerReference> owners_of(const json::value& object) {
  std::vector<OwnerReference> out;
  if (const json::array* list = references(object))
    for (const json::value& item : *list) out.push_back(read_reference(item));
  return out;
}

std::optional<OwnerReference> controller_of(const json::value& object) {
  if (const json::array* list = references(object))
    for (const json::value& item : *list)
      if (bool_at(item, "OwnerReference.controller")) return read_reference(item);
  return std::nullopt;
}

bool is_controlled_by(const json::value& object, std::string_view uid) {
  const auto controller = controller_of(object);
  return controller && controller->uid == uid;
}

Result<void> set_owner(json::value& object, const OwnerReference& owner) {
  if (owner.controller) {
    if (auto other = controller_of(object); other && other->uid != owner.uid)
      return fail(Code::conflict, fmt::format("{} is already controlled by {} {}", key_of(object),
                                              other->kind, other->name));
  }
  json::value& slot = make_object(object, "Object.metadata")["ownerReferences"];
  if (!slot.is_array()) slot = json::array();
  for (json::value& item : slot.get_array()) {
    if (text_at(item, "OwnerReference.uid") != owner.uid) continue;
    item = write_reference(owner);
    return {};
  }
  slot.get_array().push_back(write_reference(owner));
  return {};
}

bool remove_owner(json::value& object, std::string_view uid) {
  if (!references(object)) return false;
  json::object& metadata = make_object(object, "Object.metadata");
  json::array& list = metadata["ownerReferences"].get_array();
  for (auto it = list.begin(); it != list.end(); ++it) {
    if (text_at(*it, "OwnerReference.uid") != uid) continue;
    list.erase(it);
    if (list.empty()) metadata.stable_erase(metadata.find("ownerReferences"));
    return true;
  }
  return false;
}

}  // namespace plim::kube
