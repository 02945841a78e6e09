#include "local/apiserver/api/strategy.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/rfc3339.hpp"
#include "kube/object.hpp"
#include "kube/paths.hpp"
#include "local/apiserver/api/kind_rules.hpp"
#include "local/apiserver/schema/defaults.hpp"

namespace plim::local::apiserver {
namespace {

bool is_empty(const json::value* value) {
  if (!value || value->is_null()) return true;
  const json::array* list = value->if_array();
  return list && list->empty();
}

// Copies `key` from `from` to `to`, or erases it if `from` does not have it.
void keep(const json::object& from, json::object& to, std::string_view key) {
  if (const json::value* value = from.if_contains(key))
    to[key] = *value;
  else
    to.erase(key);
}

const json::object& object_at(const json::value& value, std::string_view key) {
  static const json::object none;
  const json::value* found = find(value, {key});
  const json::object* object = found ? found->if_object() : nullptr;
  return object ? *object : none;
}

bool lets_metadata_through_status(const Kind& kind) {
  return kind.group.empty() && (kind.kind == "Pod" || kind.kind == "Node");
}

// Compares everything except metadata and status; kinds without a spec keep their content there.
// The status counts as content if it is not a subresource.
bool same_content(const Kind& kind, const json::value& a, const json::value& b) {
  json::object left = a.as_object(), right = b.as_object();
  for (json::object* one : {&left, &right}) {
    one->erase("metadata");
    if (kind.has_status()) one->erase("status");
  }
  return left == right;
}

bool same_member(const json::value& a, const json::value& b, std::string_view key) {
  const json::value* left = find(a, {key});
  const json::value* right = find(b, {key});
  return left && right ? *left == *right : left == right;
}

// Takes only the status from `object`, everything else from `before`.
void restrict_to_status(const Kind& kind, const json::value& before, json::value& object) {
  json::value out = before;
  json::object& into = out.as_object();
  const json::object& from = object.as_object();
  keep(from, into, "status");
  if (lets_metadata_through_status(kind)) {
    json::object& metadata = kube::make_object(out, "Object.metadata");
    keep(object_at(object, "metadata"), metadata, "labels");
    keep(object_at(object, "metadata"), metadata, "annotations");
  } else if (kind.kind == "Deployment") {
    // The Deployment controller writes the revision together with the status.
    keep(object_at(object, "metadata"), kube::make_object(out, "Object.metadata"), "annotations");
  }
  object = std::move(out);
}

const json::array& containers_in(const json::value& pod, std::string_view list) {
  return list_at(pod, {"spec", list});
}

// Only resources and resizePolicy come from `sent`. Containers of other names or in another order
// stay as sent, and validation rejects them.
json::value resized_containers(const json::value& before, const json::value& sent,
                               std::string_view list) {
  const json::array& from = containers_in(sent, list);
  json::array out = containers_in(before, list);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!from[i].is_object() || !out[i].is_object() ||
        text_at(from[i], {"name"}) != text_at(out[i], {"name"}))
      return from;
    for (std::string_view field : {"resources", "resizePolicy"})
      keep(from[i].get_object(), out[i].get_object(), field);
  }
  return out;
}

// Takes only what a resize may change from `object`. A pod with another number of containers stays
// as sent, and validation rejects it.
void restrict_to_resize(const json::value& before, json::value& object) {
  json::value out = before;
  const std::string version(kube::resource_version_of(before));
  for (std::string_view list : {"containers", "initContainers"}) {
    if (containers_in(object, list).size() != containers_in(before, list).size()) {
      kube::make_object(object, "Object.metadata")["resourceVersion"] = version;
      return;
    }
    if (containers_in(before, list).empty()) continue;
    kube::make_object(out, "Pod.spec")[list] = resized_containers(before, object, list);
  }
  // Clients that do not know the resources of the whole pod leave them out.
  if (const json::value* whole = kube::find(object, "Pod.spec.resources"))
    kube::make_object(out, "Pod.spec")["resources"] = *whole;
  object = std::move(out);
}

// An update without managed fields keeps them; a list with one empty entry clears them.
void keep_managed_fields(const json::object& before, json::object& metadata) {
  const json::value* sent = metadata.if_contains("managedFields");
  if (!sent) return keep(before, metadata, "managedFields");
  if (sent->is_array() && sent->get_array().size() == 1 && sent->at(0).is_object() &&
      sent->at(0).get_object().empty())
    metadata.erase("managedFields");
}

ApiResult<void> check_identity(const Kind& kind, const json::value& before,
                               const json::value& object) {
  const std::string_view name = kube::name_of(before);
  const std::string_view sent_name = kube::name_of(object);
  if (!sent_name.empty() && sent_name != name)
    return bad_request(fmt::format(
        "the name of the object ({}) does not match the name on the URL ({})", sent_name, name));
  const std::string_view uid = kube::uid_of(object);
  if (!uid.empty() && uid != kube::uid_of(before))
    return conflict(kind, name,
                    fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: "
                                "{}",
                                uid, kube::uid_of(before)));
  const std::string_view version = kube::resource_version_of(object);
  if (!version.empty() && version != "0" && version != kube::resource_version_of(before))
    return modified_meanwhile(kind, name);
  return {};
}

}  // namespace

ApiResult<void> place_in_namespace(const Kind& kind, std::string_view ns, json::value& object) {
  json::object& metadata = kube::make_object(object, "Object.metadata");
  if (!kind.namespaced) {
    metadata.erase("namespace");
    return {};
  }
  const std::string_view sent = kube::namespace_of(object);
  if (!sent.empty() && sent != ns)
    return bad_request(
        "the namespace of the provided object does not match the namespace sent on the request");
  metadata["namespace"] = ns;
  return {};
}

void fill_in_defaults(const Kind& kind, json::value& object) {
  if (kind.rules)
    kind.rules->apply_defaults(object);
  else if (kind.type)
    apply_defaults(kind.group, kind.kind, *kind.type, object);
}

void prepare_for_create(const Kind& kind, WallTime now, Random& random, json::value& object) {
  json::object& metadata = kube::make_object(object, "Object.metadata");
  for (std::string_view key :
       {"selfLink", "deletionTimestamp", "deletionGracePeriodSeconds", "resourceVersion"})
    metadata.erase(key);
  metadata["uid"] = make_uuid(random);
  metadata["creationTimestamp"] = format_rfc3339(now);
  if (kind.generation != Generation::none) metadata["generation"] = 1;
  if (!kind.has_status() || kind.keeps_status) return;
  object.as_object().erase("status");
  if (!kind.empty_status.is_null()) object.as_object()["status"] = kind.empty_status;
}

ApiResult<void> prepare_for_update(const Kind& kind, Scope scope, const json::value& before,
                                   json::value& object) {
  PLIM_CHECK(check_identity(kind, before, object));
  if (scope == Scope::status) {
    restrict_to_status(kind, before, object);
    return {};
  }
  if (scope == Scope::resize) {
    restrict_to_resize(before, object);
    return {};
  }
  const json::object& old_metadata = object_at(before, "metadata");
  json::object& metadata = kube::make_object(object, "Object.metadata");
  for (std::string_view key :
       {"name", "namespace", "uid", "creationTimestamp", "generation", "resourceVersion",
        "deletionTimestamp", "deletionGracePeriodSeconds", "generateName"})
    if (scope != Scope::all || key == "resourceVersion") keep(old_metadata, metadata, key);
  metadata.erase("selfLink");
  keep_managed_fields(old_metadata, metadata);
  keep(before.as_object(), object.as_object(), "kind");
  keep(before.as_object(), object.as_object(), "apiVersion");
  if (scope == Scope::main && kind.has_status())
    keep(before.as_object(), object.as_object(), "status");
  return {};
}

std::vector<Cause> check_object(const Kind& kind, const json::value& object,
                                const json::value* before, Scope scope) {
  if (scope == Scope::resize && before) return validate_resize(object, *before);
  std::vector<Cause> out = validate(kind.group, kind.kind, object, before);
  if (!kind.rules) return out;
  auto more = kind.rules->validate(object, before);
  std::ranges::move(more, std::back_inserter(out));
  return out;
}

void count_generation(const Kind& kind, const json::value& before, json::value& object) {
  if (kind.generation == Generation::none) return;
  bool counts = kind.generation == Generation::content ? !same_content(kind, before, object)
                                                       : !same_member(before, object, "spec");
  if (kind.generation == Generation::spec_and_annotations)
    counts = counts || !same_member(json::value(object_at(before, "metadata")),
                                    json::value(object_at(object, "metadata")), "annotations");
  counts = counts || (kube::is_being_deleted(object) && !kube::is_being_deleted(before));
  if (!counts) return;
  kube::make_object(object, "Object.metadata")["generation"] =
      kube::int_at(before, "Object.metadata.generation").value_or(0) + 1;
}

bool may_go_now(const Kind& kind, const json::value& object) {
  if (!kube::is_being_deleted(object)) return false;
  if (!is_empty(kube::find(object, "Object.metadata.finalizers"))) return false;
  if (kind.group.empty() && kind.kind == "Namespace")
    return is_empty(kube::find(object, "Namespace.spec.finalizers"));
  return kube::int_at(object, "Object.metadata.deletionGracePeriodSeconds").value_or(0) == 0;
}

}  // namespace plim::local::apiserver
