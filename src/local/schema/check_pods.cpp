#include <set>
#include <string>

#include <fmt/format.h>

#include "local/schema/checks.hpp"
#include "local/schema/name_rules.hpp"

namespace plim::local {
namespace {

using Names = std::set<std::string, std::less<>>;

void check_ports(const json::value& container, const std::string& path, Causes& causes) {
  Names names;
  std::size_t index = 0;
  for (const json::value& port : array_at(container, {"ports"})) {
    std::string place = fmt::format("{}.ports[{}]", path, index++);
    std::string_view name = text_at(port, {"name"});
    if (!name.empty()) {
      Messages messages = check_port_name(name);
      causes.invalid_text(place + ".name", name, messages);
      if (messages.empty() && !names.emplace(name).second) causes.duplicate(place + ".name", name);
    }
    if (int_at(port, {"containerPort"}).value_or(0) == 0)
      causes.required(place + ".containerPort");
    else
      check_port(port, "containerPort", place, causes);
    if (int_at(port, {"hostPort"}).value_or(0) != 0) check_port(port, "hostPort", place, causes);
    check_protocol(port, place, causes);
  }
}

void check_container(const json::value& container, const std::string& path, Causes& causes) {
  std::string_view name = text_at(container, {"name"});
  if (name.empty())
    causes.required(path + ".name");
  else
    causes.invalid_text(path + ".name", name, check_dns_label(name));
  if (text_at(container, {"image"}).empty()) causes.required(path + ".image");
  check_ports(container, path, causes);
  std::string_view policy = text_at(container, {"imagePullPolicy"});
  if (policy.empty())
    causes.required(path + ".imagePullPolicy");
  else if (policy != "Always" && policy != "IfNotPresent" && policy != "Never")
    causes.not_supported(path + ".imagePullPolicy", policy, {"Always", "IfNotPresent", "Never"});
  check_resources(value_at(container, {"resources"}), path + ".resources", causes);
}

// Names are unique over all of a pod's containers.
void check_containers(const json::value& spec, std::string_view list, const std::string& path,
                      Names& names, Causes& causes) {
  std::size_t index = 0;
  for (const json::value& container : array_at(spec, {list})) {
    std::string place = fmt::format("{}.{}[{}]", path, list, index++);
    check_container(container, place, causes);
    std::string_view name = text_at(container, {"name"});
    if (!name.empty() && !names.emplace(name).second) causes.duplicate(place + ".name", name);
  }
}

}  // namespace

void check_pod_spec(const json::value& spec, const std::string& path, Causes& causes) {
  if (array_at(spec, {"containers"}).empty()) causes.required(path + ".containers");
  Names names;
  check_containers(spec, "containers", path, names, causes);
  check_containers(spec, "initContainers", path, names, causes);
  std::string_view policy = text_at(spec, {"restartPolicy"});
  if (policy.empty())
    causes.required(path + ".restartPolicy");
  else if (policy != "Always" && policy != "OnFailure" && policy != "Never")
    causes.not_supported(path + ".restartPolicy", policy, {"Always", "OnFailure", "Never"});
}

// Upstream leaves the word "metadata" out of these paths.
void check_pod_template(const json::value& pod_template, const std::string& path, Causes& causes) {
  check_labels(find(pod_template, {"metadata", "labels"}), path + ".labels", causes);
  check_annotations(find(pod_template, {"metadata", "annotations"}), path + ".annotations", causes);
  check_pod_spec(value_at(pod_template, {"spec"}), path + ".spec", causes);
}

void check_pod(const json::value& pod, const json::value* before, Causes& causes) {
  check_pod_spec(value_at(pod, {"spec"}), "spec", causes);
  if (before != nullptr) check_pod_update(pod, *before, causes);
}

}  // namespace plim::local
