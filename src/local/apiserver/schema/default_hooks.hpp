// Defaults that depend on other fields, by type. They run before the defaults of the tables, on
// objects that conform to their type.
#pragma once

#include <string_view>

#include "base/json.hpp"

namespace plim::local::apiserver {

using DefaultHook = void (*)(json::object& object);

struct TypeDefault {
  std::string_view type;
  DefaultHook hook;
};

// Pods and their parts.
void default_pod(json::object& pod);
void default_pod_spec(json::object& spec);
void default_container(json::object& container);
void default_volume(json::object& volume);
// Workloads.
void default_rolling_update(json::object& strategy);
void default_stateful_set_strategy(json::object& strategy);
void default_daemon_set(json::object& daemon_set);
void default_stateful_set(json::object& set);
void default_job(json::object& job);
void default_replication_controller(json::object& controller);
// All others.
void default_service(json::object& service);
void default_service_port(json::object& port);
void default_secret(json::object& secret);
void default_namespace(json::object& space);
void default_node_spec(json::object& spec);
void default_node_status(json::object& status);
void default_limit_range_item(json::object& item);
void default_device_request(json::object& request);
void default_subject(json::object& subject);
void default_network_policy_spec(json::object& spec);
void default_custom_resource_definition(json::object& definition);

// Sets the field if it is missing or empty.
void set_if_unset(json::object& object, std::string_view field, json::value value);
bool is_unset(const json::object& object, std::string_view field);
// Adds entries of `from` that `into` lacks.
void add_missing_entries(const json::object& from, json::object& into);
// The object in `field`, created if it is missing.
json::object& object_in(json::object& object, std::string_view field);

}  // namespace plim::local::apiserver
