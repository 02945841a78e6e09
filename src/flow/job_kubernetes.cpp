#include "flow/job_kubernetes.hpp"

#include <array>

#include <fmt/format.h>

namespace plim::flow {
namespace {

constexpr std::int64_t kOwnPort = 45680;

const json::value* given(const json::object& job, std::string_view key) {
  const json::value* value = job.if_contains(key);
  return value != nullptr && !value->is_null() ? value : nullptr;
}

void add(Problems& problems, std::string_view path, std::string_view message) {
  problems.errors.push_back(fmt::format("{}: {}", path, message));
}

void check_resources(const json::object& job, Problems& problems) {
  for (std::string_view kind : {"cpu", "memory"}) {
    bool mixed = false;
    for (std::string_view what : {"requests", "limits"})
      mixed = mixed || given(job, fmt::format("resources_{}_{}", what, kind)) != nullptr;
    if (mixed && given(job, kind) != nullptr)
      add(problems, kind, "cpu/memory can't be mixed with resource settings of the same type.");
  }
  constexpr std::array<std::string_view, 8> kNumbers{"cpu",
                                                     "memory",
                                                     "resources_requests_cpu",
                                                     "resources_limits_cpu",
                                                     "resources_requests_memory",
                                                     "resources_limits_memory",
                                                     "cpu_execution_controller",
                                                     "memory_execution_controller"};
  for (std::string_view key : kNumbers)
    if (const json::value* value = given(job, key); value != nullptr && !value->is_number())
      add(problems, key, "must be a number");
}

// Checks an array of objects that must all have these two keys.
void check_pairs(json::object& job, std::string_view name, std::string_view first,
                 std::string_view second, Problems& problems) {
  const json::value* list = given(job, name);
  if (list == nullptr) {
    job[name] = json::array();
    return;
  }
  if (!list->is_array()) return add(problems, name, "must be array");
  for (std::size_t i = 0; i < list->as_array().size(); ++i) {
    const json::value& one = list->as_array()[i];
    for (std::string_view key : {first, second}) {
      const json::value* value = find(one, {key});
      if (value == nullptr || value->is_null() ||
          (value->is_string() && value->as_string().empty()))
        add(problems, fmt::format("{}[{}]", name, i),
            fmt::format("needs to have a {}: {}", key, to_json(one)));
    }
  }
}

void check_constraints(const json::object& job, Problems& problems) {
  const json::value* list = given(job, "targets");
  if (list == nullptr || !list->is_array()) return;
  for (std::size_t i = 0; i < list->as_array().size(); ++i) {
    const json::value* constraint = find(list->as_array()[i], {"constraint"});
    if (constraint == nullptr) continue;
    std::string_view text =
        constraint->is_string() ? std::string_view(constraint->as_string()) : "";
    if (text != "required" && text != "preferred" && text != "accepted")
      add(problems, fmt::format("targets[{}].constraint", i),
          "must be one of required, preferred, accepted");
  }
}

void check_ports(const json::object& job, Problems& problems) {
  const json::value* list = given(job, "external_ports");
  if (list == nullptr) return;
  if (!list->is_array()) return add(problems, "external_ports", "must be array");
  for (std::size_t i = 0; i < list->as_array().size(); ++i) {
    const json::value& one = list->as_array()[i];
    auto port = one.is_int64() ? std::optional(one.as_int64()) : int_at(one, {"port"});
    std::string path = fmt::format("external_ports[{}]", i);
    if (!port || *port < 1 || *port > 65535)
      add(problems, path, "must be a port, or an object with name and port");
    else if (*port == kOwnPort)
      add(problems, path,
          "Port 45680 cannot be included in external_ports, it is reserved by Teraslice.");
  }
}

void check_plain_values(const json::object& job, Problems& problems) {
  for (std::string_view key :
       {"ephemeral_storage", "prom_metrics_enabled", "prom_metrics_add_default"})
    if (const json::value* value = given(job, key); value != nullptr && !value->is_bool())
      add(problems, key, "must be true or false");
  if (const json::value* image = given(job, "kubernetes_image"))
    if (!image->is_string() || image->as_string().empty())
      add(problems, "kubernetes_image", "This field is required and must be of type string");
  if (const json::value* port = given(job, "prom_metrics_port")) {
    auto number = whole_number(*port);
    if (!number || *number < 1 || *number > 65535)
      add(problems, "prom_metrics_port", "must be a port");
  }
}

}  // namespace

void check_kubernetes_settings(json::object& job, Problems& problems) {
  check_resources(job, problems);
  check_pairs(job, "targets", "key", "value", problems);
  check_constraints(job, problems);
  check_pairs(job, "volumes", "name", "path", problems);
  check_ports(job, problems);
  check_plain_values(job, problems);
  const json::value* pod = given(job, "pod_spec_override");
  if (pod != nullptr && (!pod->is_object() || !pod->as_object().empty()))
    add(problems, "pod_spec_override",
        "The Teraslice master must set 'kubernetes_overrides_enabled: true' to use "
        "pod_spec_override in a job.");
}

}  // namespace plim::flow
