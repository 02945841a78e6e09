#include "kube/requests.hpp"

#include <fmt/format.h>

#include "kube/object.hpp"

namespace plim::kube {
namespace {

using namespace std::chrono_literals;
using Query = std::vector<std::pair<std::string, std::string>>;

void add(Query& query, std::string name, std::string value) {
  if (!value.empty()) query.emplace_back(std::move(name), std::move(value));
}

Query query_of(const ListOptions& options) {
  Query query;
  add(query, "labelSelector", options.label_selector);
  add(query, "fieldSelector", options.field_selector);
  if (options.limit > 0) add(query, "limit", std::to_string(options.limit));
  add(query, "continue", options.continue_token);
  add(query, "resourceVersion", options.resource_version);
  add(query, "resourceVersionMatch", options.resource_version_match);
  return query;
}

Query query_of(const WatchOptions& options) {
  Query query{{"watch", "true"}};
  add(query, "labelSelector", options.label_selector);
  add(query, "fieldSelector", options.field_selector);
  add(query, "resourceVersion", options.resource_version);
  if (options.bookmarks) add(query, "allowWatchBookmarks", "true");
  if (options.send_initial_events) {
    add(query, "sendInitialEvents", "true");
    add(query, "resourceVersionMatch", "NotOlderThan");
  }
  if (options.timeout > 0s) add(query, "timeoutSeconds", std::to_string(options.timeout.count()));
  return query;
}

Query query_of(const WriteOptions& options) {
  Query query;
  if (options.dry_run) add(query, "dryRun", "All");
  add(query, "fieldManager", options.field_manager);
  add(query, "fieldValidation", options.field_validation);
  if (options.force) add(query, "force", "true");
  return query;
}

std::string body_of(const DeleteOptions& options) {
  json::object out{{"kind", "DeleteOptions"}, {"apiVersion", "v1"}};
  if (options.grace_seconds) out["gracePeriodSeconds"] = *options.grace_seconds;
  if (!options.propagation.empty()) out["propagationPolicy"] = options.propagation;
  json::object preconditions;
  if (!options.uid.empty()) preconditions["uid"] = options.uid;
  if (!options.resource_version.empty())
    preconditions["resourceVersion"] = options.resource_version;
  if (!preconditions.empty()) out["preconditions"] = std::move(preconditions);
  if (options.dry_run) out["dryRun"] = json::array{"All"};
  return to_json(out);
}

std::string_view content_type(PatchType type) {
  switch (type) {
    case PatchType::json:
      return "application/json-patch+json";
    case PatchType::merge:
      return "application/merge-patch+json";
    case PatchType::strategic:
      return "application/strategic-merge-patch+json";
    case PatchType::apply:
      return "application/apply-patch+yaml";  // JSON is YAML
  }
  return "application/json";
}

net::Request request_for(std::string method, std::string path, const Query& query) {
  net::Request out;
  out.method = std::move(method);
  out.path = std::move(path);
  out.query = net::format_query(query);
  out.headers.set("Accept", "application/json");
  return out;
}

void set_body(net::Request& request, std::string body, std::string_view type) {
  request.body = std::move(body);
  request.headers.set("Content-Type", std::string(type));
}

// The path of one object, or of the collection in which it is created.
Result<std::string> path_in_namespace(const Resource& resource, const ObjectPath& path) {
  if (resource.namespaced && path.ns.empty())
    return fail(Code::bad_request,
                fmt::format("{} \"{}\": the namespace is missing", resource.plural, path.name));
  return api_path(resource, path);
}

Result<std::string> path_of_object(const Resource& resource, const ObjectPath& path) {
  if (path.name.empty())
    return fail(Code::bad_request, fmt::format("{}: the name is missing", resource.plural));
  return path_in_namespace(resource, path);
}

}  // namespace

Result<net::Request> get_request(const Resource& resource, const ObjectPath& path) {
  PLIM_TRY(std::string where, path_of_object(resource, path));
  return request_for("GET", std::move(where), {});
}

net::Request list_request(const Resource& resource, const ListOptions& options) {
  return request_for("GET", api_path(resource, {options.ns, ""}), query_of(options));
}

net::Request watch_request(const Resource& resource, const WatchOptions& options) {
  return request_for("GET", api_path(resource, {options.ns, ""}), query_of(options));
}

Result<net::Request> create_request(const Resource& resource, ObjectPath path,
                                    const json::value& object, const WriteOptions& options) {
  if (path.ns.empty()) path.ns = namespace_of(object);
  if (path.subresource.empty()) path.name.clear();  // the name is in the object
  PLIM_TRY(std::string where, path_in_namespace(resource, path));
  auto out = request_for("POST", std::move(where), query_of(options));
  set_body(out, to_json(object), "application/json");
  return out;
}

Result<net::Request> update_request(const Resource& resource, const ObjectPath& path,
                                    const json::value& object, const WriteOptions& options) {
  PLIM_TRY(std::string where, path_of_object(resource, path));
  auto out = request_for("PUT", std::move(where), query_of(options));
  set_body(out, to_json(object), "application/json");
  return out;
}

Result<net::Request> patch_request(const Resource& resource, const ObjectPath& path, PatchType type,
                                   const json::value& patch, const WriteOptions& options) {
  PLIM_TRY(std::string where, path_of_object(resource, path));
  auto out = request_for("PATCH", std::move(where), query_of(options));
  set_body(out, to_json(patch), content_type(type));
  return out;
}

Result<net::Request> delete_request(const Resource& resource, const ObjectPath& path,
                                    const DeleteOptions& options) {
  PLIM_TRY(std::string where, path_of_object(resource, path));
  auto out = request_for("DELETE", std::move(where), {});
  set_body(out, body_of(options), "application/json");
  return out;
}

Result<net::Request> delete_collection_request(const Resource& resource, const ListOptions& which,
                                               const DeleteOptions& options) {
  PLIM_TRY(std::string where, path_in_namespace(resource, {which.ns, ""}));
  auto out = request_for("DELETE", std::move(where), query_of(which));
  set_body(out, body_of(options), "application/json");
  return out;
}

}  // namespace plim::kube
