#include "local/apiserver/patch/managed_fields.hpp"

#include <algorithm>
#include <tuple>

#include "base/rfc3339.hpp"
#include "kube/paths.hpp"

namespace plim::local::apiserver {
namespace {

const json::array* entries_of(const json::value& object) {
  const json::value* found = kube::find(object, "Object.metadata.managedFields");
  const json::array* entries = found ? found->if_array() : nullptr;
  return entries && !entries->empty() ? entries : nullptr;
}

bool asks_to_clear(const json::array& entries) {
  return entries.size() == 1 && entries[0].is_object() && entries[0].get_object().empty();
}

void erase_member(json::value& object, std::string_view name) {
  json::object* members = object.if_object();
  auto found = members ? members->find(name) : json::object::iterator();
  if (members && found != members->end()) members->stable_erase(found);
}

json::object to_entry(const FieldManager& manager) {
  json::object out;
  out.emplace("manager", manager.name);
  out.emplace("operation", manager.operation);
  out.emplace("apiVersion", manager.api_version);
  if (!manager.time.empty()) out.emplace("time", manager.time);
  out.emplace("fieldsType", "FieldsV1");
  out.emplace("fieldsV1", to_fields_v1(manager.fields));
  if (!manager.subresource.empty()) out.emplace("subresource", manager.subresource);
  return out;
}

}  // namespace

std::vector<FieldManager> managers_of(const json::value& object) {
  std::vector<FieldManager> out;
  const json::array* entries = entries_of(object);
  if (!entries) return out;
  for (const json::value& entry : *entries) {
    const json::value* fields = kube::find(entry, "ManagedFieldsEntry.fieldsV1");
    auto parsed = fields ? parse_fields_v1(*fields) : Result<FieldSet>(FieldSet());
    if (!parsed || parsed->empty()) continue;
    out.push_back(
        {.name = std::string(kube::text_at(entry, "ManagedFieldsEntry.manager")),
         .operation = std::string(kube::text_at(entry, "ManagedFieldsEntry.operation")),
         .api_version = std::string(kube::text_at(entry, "ManagedFieldsEntry.apiVersion")),
         .subresource = std::string(kube::text_at(entry, "ManagedFieldsEntry.subresource")),
         .time = std::string(kube::text_at(entry, "ManagedFieldsEntry.time")),
         .fields = std::move(*parsed)});
  }
  return out;
}

void set_managers(json::value& object, std::vector<FieldManager> managers) {
  std::erase_if(managers, [](const FieldManager& manager) { return manager.fields.empty(); });
  std::sort(managers.begin(), managers.end(), [](const FieldManager& a, const FieldManager& b) {
    return std::tie(a.operation, a.time, a.name, a.api_version, a.subresource) <
           std::tie(b.operation, b.time, b.name, b.api_version, b.subresource);
  });
  json::object& metadata = kube::make_object(object, "Object.metadata");
  if (managers.empty()) {
    metadata.erase("managedFields");
    return;
  }
  json::array entries;
  for (const FieldManager& manager : managers) entries.push_back(to_entry(manager));
  metadata["managedFields"] = std::move(entries);
}

FieldSet without_server_fields(FieldSet fields) {
  fields.members.erase("f:apiVersion");
  fields.members.erase("f:kind");
  auto metadata = fields.members.find("f:metadata");
  if (metadata == fields.members.end()) return fields;
  metadata->second.owned = false;
  for (const char* name : {"f:name", "f:namespace", "f:creationTimestamp", "f:selfLink", "f:uid",
                           "f:generation", "f:managedFields", "f:resourceVersion"})
    metadata->second.members.erase(name);
  if (metadata->second.empty()) fields.members.erase(metadata);
  return fields;
}

void track_update(const Type* type, const json::value& before, json::value& after,
                  const PlainUpdate& request) {
  const json::array* given = entries_of(after);
  if (given && asks_to_clear(*given)) {
    erase_member(make_object(after, {})["metadata"], "managedFields");
    return;
  }
  std::vector<FieldManager> managers = managers_of(given ? after : before);
  const ValueType root = ValueType::root(type);
  const FieldSet changed = without_server_fields(changed_fields(root, before, after));
  const FieldSet removed = without_server_fields(
      subtract(fields_of_stored(root, before), fields_of_stored(root, after)));
  if (!changed.empty() || !removed.empty()) {
    FieldManager* mine = nullptr;
    for (FieldManager& manager : managers) {
      const bool same = manager.name == request.manager && manager.operation == "Update" &&
                        manager.api_version == request.api_version &&
                        manager.subresource == request.subresource;
      if (same) mine = &manager;
      manager.fields = subtract(std::move(manager.fields), removed);
      if (!same) manager.fields = subtract(std::move(manager.fields), changed);
    }
    if (!mine) {
      managers.push_back({.name = request.manager,
                          .operation = "Update",
                          .api_version = request.api_version,
                          .subresource = request.subresource});
      mine = &managers.back();
    }
    mine->fields = unite(std::move(mine->fields), changed);
    mine->time = format_rfc3339(request.now);
  }
  set_managers(after, std::move(managers));
}

}  // namespace plim::local::apiserver
