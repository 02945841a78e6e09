// The checks of single parts of objects. Each adds what it finds under `path`, the part's own.
#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"
#include "local/schema/causes.hpp"

namespace plim::local {

// Metadata.
void check_metadata(std::string_view group, std::string_view kind, const json::value& object,
                    const json::value* before, Causes& causes);
void check_labels(const json::value* labels, const std::string& path, Causes& causes);
void check_annotations(const json::value* annotations, const std::string& path, Causes& causes);

// Pods.
void check_pod_spec(const json::value& spec, const std::string& path, Causes& causes);
void check_pod_template(const json::value& pod_template, const std::string& path, Causes& causes);
void check_pod_update(const json::value& pod, const json::value& before, Causes& causes);
void check_resources(const json::value& resources, const std::string& path, Causes& causes);

// The parts of the kinds besides metadata; `before` is null on creates.
using KindCheck = void (*)(const json::value& object, const json::value* before, Causes& causes);
void check_pod(const json::value& pod, const json::value* before, Causes& causes);
void check_deployment(const json::value& object, const json::value* before, Causes& causes);
void check_replica_set(const json::value& object, const json::value* before, Causes& causes);
void check_daemon_set(const json::value& object, const json::value* before, Causes& causes);
void check_stateful_set(const json::value& object, const json::value* before, Causes& causes);
void check_replication_controller(const json::value& object, const json::value* before,
                                  Causes& causes);
void check_job(const json::value& job, const json::value* before, Causes& causes);
void check_cron_job(const json::value& cron_job, const json::value* before, Causes& causes);
void check_service(const json::value& service, const json::value* before, Causes& causes);
void check_config_map(const json::value& map, const json::value* before, Causes& causes);
void check_secret(const json::value& secret, const json::value* before, Causes& causes);
void check_priority_class(const json::value& object, const json::value* before, Causes& causes);
void check_role_binding(const json::value& binding, const json::value* before, Causes& causes);
void check_binding(const json::value& binding, const json::value* before, Causes& causes);

// The parts of an object for checks that find nothing there, too.
const json::array& array_at(const json::value& value, std::initializer_list<std::string_view> path);
const json::object& object_at(const json::value& value,
                              std::initializer_list<std::string_view> path);
const json::value& value_at(const json::value& value,
                            std::initializer_list<std::string_view> path);  // null if missing

void check_port(const json::value& owner, std::string_view field, const std::string& path,
                Causes& causes);
void check_protocol(const json::value& owner, const std::string& path, Causes& causes);
void check_not_negative(const json::value& owner, std::string_view field, const std::string& path,
                        Causes& causes);
// Nothing may have changed under this path.
void check_immutable(const json::value& object, const json::value& before,
                     std::initializer_list<std::string_view> path, Causes& causes);

}  // namespace plim::local
