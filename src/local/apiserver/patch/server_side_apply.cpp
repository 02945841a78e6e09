#include "local/apiserver/patch/server_side_apply.hpp"

#include <map>

#include <fmt/format.h>

#include "base/rfc3339.hpp"
#include "base/text.hpp"
#include "kube/paths.hpp"
#include "local/apiserver/patch/managed_fields.hpp"
#include "local/apiserver/patch/value_type.hpp"

namespace plim::local::apiserver {
namespace {

json::value without_nulls(const json::value& value) {
  if (const json::array* array = value.if_array()) {
    json::array out;
    for (const json::value& element : *array) out.push_back(without_nulls(element));
    return out;
  }
  const json::object* object = value.if_object();
  if (!object) return value;
  json::object out;
  for (const json::key_value_pair& member : *object)
    if (!member.value().is_null()) out.emplace(member.key(), without_nulls(member.value()));
  return out;
}

// An apply to the object does not change its status; an apply to the status changes nothing else.
FieldSet within_subresource(FieldSet fields, const Type* type, std::string_view subresource) {
  if (subresource == "status") {
    std::erase_if(fields.members, [](const auto& entry) { return entry.first != "f:status"; });
  } else if (type && type->find("status")) {
    fields.members.erase("f:status");
  }
  return fields;
}

// The name of a manager in conflicts: for plain updates, with version and time.
std::string describe(const FieldManager& manager) {
  std::string out = quote(manager.name);
  if (!manager.subresource.empty())
    out += fmt::format(" with subresource {}", quote(manager.subresource));
  if (manager.operation != "Update") return out;
  out += fmt::format(" using {}", manager.api_version);
  if (!manager.time.empty()) out += fmt::format(" at {}", manager.time);
  return out;
}

struct Conflict {
  std::string manager;
  std::string path;
};

std::string conflict_message(const std::vector<Conflict>& conflicts) {
  if (conflicts.size() == 1)
    return fmt::format("Apply failed with 1 conflict: conflict with {}: {}", conflicts[0].manager,
                       conflicts[0].path);
  std::map<std::string, std::vector<std::string>> by_manager;
  for (const Conflict& conflict : conflicts) by_manager[conflict.manager].push_back(conflict.path);
  std::string list;
  for (const auto& [manager, paths] : by_manager) {
    list += fmt::format("{}conflicts with {}:", list.empty() ? "" : "\n", manager);
    for (const std::string& path : paths) list += fmt::format("\n- {}", path);
  }
  return fmt::format("Apply failed with {} conflicts: {}", conflicts.size(), list);
}

bool is_mine(const FieldManager& manager, const ApplyRequest& request) {
  return manager.operation == "Apply" && manager.name == request.manager &&
         manager.subresource == request.subresource;
}

// Removes the changed fields from the other managers, or reports the conflicts.
Result<void> settle_conflicts(std::vector<FieldManager>& managers, const FieldSet& changed,
                              const ApplyRequest& request, std::vector<Cause>* causes) {
  std::vector<Conflict> conflicts;
  for (FieldManager& manager : managers) {
    if (is_mine(manager, request)) continue;
    if (request.force) {
      manager.fields = subtract(std::move(manager.fields), changed);
      continue;
    }
    for (std::string& path : paths_of(intersect(manager.fields, changed)))
      conflicts.push_back({.manager = describe(manager), .path = std::move(path)});
  }
  if (conflicts.empty()) return {};
  if (causes) {
    for (const Conflict& conflict : conflicts)
      causes->push_back({.reason = "FieldManagerConflict",
                         .message = fmt::format("conflict with {}", conflict.manager),
                         .field = conflict.path});
  }
  return fail(Code::conflict, conflict_message(conflicts));
}

}  // namespace

Result<json::value> apply_server_side(const Type* type, json::value object,
                                      const json::value& configuration, const ApplyRequest& request,
                                      std::vector<Cause>* causes) {
  if (!configuration.is_object())
    return fail(Code::bad_request, "the applied configuration is not an object");
  const json::value wanted = without_nulls(configuration);
  if (kube::find(wanted, "Object.metadata.managedFields"))
    return fail(Code::bad_request, "metadata.managedFields must be nil");
  if (!object.is_object()) object.emplace_object();

  const ValueType root = ValueType::root(type);
  PLIM_TRY(FieldSet all_fields, fields_of(root, wanted));
  const FieldSet fields =
      within_subresource(without_server_fields(std::move(all_fields)), type, request.subresource);
  std::vector<FieldManager> managers = managers_of(object);
  if (json::object* metadata = object.get_object().contains("metadata")
                                   ? object.get_object()["metadata"].if_object()
                                   : nullptr)
    metadata->erase("managedFields");

  json::value merged = merge_typed(root, object, wanted);
  const FieldSet changed = intersect(changed_fields(root, object, merged), fields);
  PLIM_CHECK(settle_conflicts(managers, changed, request, causes));

  FieldManager mine{.name = request.manager,
                    .operation = "Apply",
                    .api_version = request.api_version,
                    .subresource = request.subresource,
                    .time = format_rfc3339(request.now),
                    .fields = fields};
  FieldSet last;
  for (const FieldManager& manager : managers) {
    if (!is_mine(manager, request)) continue;
    last = unite(std::move(last), manager.fields);
    // An apply that changes nothing does not update the time, so that nothing is written.
    if (manager.fields == fields && manager.api_version == request.api_version)
      mine.time = manager.time;
  }
  std::erase_if(managers, [&](const FieldManager& manager) { return is_mine(manager, request); });
  managers.push_back(std::move(mine));

  FieldSet kept;
  for (const FieldManager& manager : managers) kept = unite(std::move(kept), manager.fields);
  prune_typed(root, merged, last, kept);
  set_managers(merged, std::move(managers));
  return merged;
}

}  // namespace plim::local::apiserver
