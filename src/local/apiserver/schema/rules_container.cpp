// Containers of pods.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "local/apiserver/schema/checks.hpp"
#include "local/apiserver/schema/rule_tables.hpp"

namespace plim::local::apiserver {
namespace {

using namespace rule;

constexpr Rule kPort[] = {
    text("name", check_port_name),      unique("name"),
    required("containerPort"),          range("containerPort", 1, 65535),
    range("hostPort", 1, 65535),        required("protocol"),
    one_of("protocol", "SCTP,TCP,UDP"),
};

// --- variables

constexpr Rule kKeyRef[] = {required("key"), text("key", check_config_key)};
constexpr Rule kFieldRef[] = {required("apiVersion"), required("fieldPath")};
constexpr Rule kResourceFieldRef[] = {required("resource")};
constexpr Rule kFileKeyRef[] = {required("volumeName"), required("path"), required("key")};
constexpr Part kValueSources[] = {
    {"fieldRef", kFieldRef},      {"resourceFieldRef", kResourceFieldRef},
    {"configMapKeyRef", kKeyRef}, {"secretKeyRef", kKeyRef},
    {"fileKeyRef", kFileKeyRef},
};

void check_value_source(const Place& variable, const json::value* /*before*/, Causes& causes) {
  if (!variable.has("valueFrom")) return;
  Place from = variable.in("valueFrom");
  int sources = 0;
  for (const Part& part : kValueSources) {
    if (!from.has(part.field)) continue;
    ++sources;
    check_rules(part.rules, from.in(part.field), nullptr, causes);
  }
  const json::value nothing("");
  if (sources == 0)
    causes.invalid(from.path(), nothing,
                   "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, "
                   "`secretKeyRef` or `fileKeyRef`");
  else if (!variable.text("value").empty())
    causes.invalid(from.path(), nothing, "may not be specified when `value` is not empty");
  else if (sources > 1)
    causes.invalid(from.path(), nothing, "may not have more than one field specified at a time");
}

constexpr Rule kVariable[] = {
    required("name"),
    text("name", check_variable_name),
    custom(check_value_source),
};

constexpr Rule kEnvReference[] = {required("name"), text("name", check_dns_subdomain)};

void check_env_source(const Place& source, const json::value* /*before*/, Causes& causes) {
  int sources = 0;
  for (std::string_view field : {"configMapRef", "secretRef"}) {
    if (!source.has(field)) continue;
    ++sources;
    check_rules(kEnvReference, source.in(field), nullptr, causes);
  }
  if (sources == 1) return;
  // Upstream names the list here, not the element.
  causes.invalid(source.outer()->path(), json::value(""),
                 sources == 0 ? "must specify one of: `configMapRef` or `secretRef`"
                              : "may not have more than one field specified at a time");
}

constexpr Rule kEnvSource[] = {text("prefix", check_variable_name), custom(check_env_source)};

// --- mounts

bool names_volume(const Place& container, std::string_view name) {
  const Place& spec = *container.outer()->outer();
  const json::array& volumes = spec.list("volumes");
  return std::any_of(volumes.begin(), volumes.end(),
                     [&](const json::value& volume) { return text_at(volume, {"name"}) == name; });
}

// For the template of a stateful set, whose claims become volumes with the same names.
bool names_claim(const Place& container, std::string_view name) {
  const Place* set = &container;
  while (set->outer() != nullptr) set = set->outer();
  const json::array& claims = set->list("spec.volumeClaimTemplates");
  return std::any_of(claims.begin(), claims.end(), [&](const json::value& claim) {
    return text_at(claim, {"metadata", "name"}) == name;
  });
}

void check_mounts(const Place& container, const json::value* /*before*/, Causes& causes) {
  struct List {
    std::string_view field;
    std::string_view path;
  };

  for (List kind : {List{"volumeMounts", "mountPath"}, List{"volumeDevices", "devicePath"}}) {
    if (container.list(kind.field).empty()) continue;
    Place mounts = container.in(kind.field);
    std::vector<std::string_view> paths;
    std::vector<std::string_view> devices;  // a claim may be only one device, unlike mounts
    for (std::size_t i = 0; i < container.list(kind.field).size(); ++i) {
      Place mount = mounts.at(i);
      std::string_view name = mount.text("name");
      std::string_view path = mount.text(kind.path);
      if (name.empty()) causes.required(mount.path("name"));
      if (std::find(devices.begin(), devices.end(), name) != devices.end())
        causes.invalid(mount.path("name"), json::value(name), "must be unique");
      if (kind.field == "volumeDevices") devices.push_back(name);
      if (!names_volume(container, name) && !names_claim(container, name))
        causes.not_found(mount.path("name"), name);
      if (path.empty()) causes.required(mount.path(kind.path));
      if (std::find(paths.begin(), paths.end(), path) != paths.end())
        causes.invalid(mount.path(kind.path), json::value(path), "must be unique");
      paths.push_back(path);
    }
  }
}

// --- probes and hooks

constexpr Rule kExec[] = {required("command")};
constexpr Rule kHttpGet[] = {required("path"), port("port"), one_of("scheme", "HTTP,HTTPS")};
constexpr Rule kPortAlone[] = {port("port")};
constexpr Part kHandlers[] = {{"exec", kExec},
                              {"httpGet", kHttpGet},
                              {"tcpSocket", kPortAlone},
                              {"grpc", kPortAlone},
                              {"sleep"}};

constexpr Rule kHook[] = {one_part(kHandlers, "handler type")};
constexpr Rule kLifecycle[] = {inside("postStart", kHook), inside("preStop", kHook)};
constexpr Rule kProbe[] = {
    one_part(kHandlers, "handler type"),
    not_negative("initialDelaySeconds"),
    not_negative("timeoutSeconds"),
    not_negative("periodSeconds"),
    not_negative("successThreshold"),
    not_negative("failureThreshold"),
    positive("terminationGracePeriodSeconds"),
};
// Probes that restart a container need exactly one success.
constexpr Rule kRestartingProbe[] = {also(kProbe), range("successThreshold", 1, 1)};

// --- resizing

void check_resize_policies(const Place& container, const json::value* /*before*/, Causes& causes) {
  const json::array& policies = container.list("resizePolicy");
  const std::string path = container.path("resizePolicy");
  const std::string_view restarts = container.outer()->outer()->text("restartPolicy");
  for (std::size_t i = 0; i < policies.size(); ++i) {
    const std::string_view resource = text_at(policies[i], {"resourceName"});
    const std::string_view policy = text_at(policies[i], {"restartPolicy"});
    const bool is_repeated = std::any_of(
        policies.begin(), policies.begin() + static_cast<std::ptrdiff_t>(i),
        [&](const json::value& one) { return text_at(one, {"resourceName"}) == resource; });
    if (is_repeated) causes.duplicate(fmt::format("{}[{}]", path, i), json::value(resource));
    if (resource.empty())
      causes.required(path);
    else if (resource != "cpu" && resource != "memory")
      causes.unsupported(path, json::value(resource), "cpu,memory");
    if (policy.empty())
      causes.required(path);
    else if (policy != "NotRequired" && policy != "RestartContainer")
      causes.unsupported(path, json::value(policy), "NotRequired,RestartContainer");
    if (restarts == "Never" && policy != "NotRequired")
      causes.invalid(path, json::value(policy),
                     "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
  }
}

// --- the container

void check_container_resources(const Place& container, const json::value* /*before*/,
                               Causes& causes) {
  if (container.has("resources")) check_resources(container.in("resources"), causes);
}

constexpr Rule kCommon[] = {
    required("name"),
    text("name", check_dns_label),
    required("image"),
    one_of("terminationMessagePolicy", "File,FallbackToLogsOnError"),
    each("ports", kPort),
    each("env", kVariable),
    each("envFrom", kEnvSource),
    custom(check_mounts),
    required("imagePullPolicy"),
    one_of("imagePullPolicy", "Always,IfNotPresent,Never"),
    custom(check_container_resources),
    custom(check_resize_policies),
};

constexpr Rule kContainer[] = {
    also(kCommon),
    unique("name"),
    inside("lifecycle", kLifecycle),
    inside("livenessProbe", kRestartingProbe),
    inside("readinessProbe", kProbe),
    inside("startupProbe", kRestartingProbe),
};

void check_name_is_free(const Place& init, const json::value* /*before*/, Causes& causes) {
  const Place& spec = *init.outer()->outer();
  for (const json::value& container : spec.list("containers"))
    if (text_at(container, {"name"}) == init.text("name") && !init.text("name").empty())
      return causes.duplicate(init.path("name"), init.member("name"));
}

void check_does_not_restart(const Place& init, const json::value* /*before*/, Causes& causes) {
  if (init.text("restartPolicy") == "Always") return;
  std::size_t index = 0;
  for (const json::value& policy : init.list("resizePolicy")) {
    const std::string path =
        fmt::format("{}[{}].restartPolicy", init.path("resizePolicy"), index++);
    if (text_at(policy, {"restartPolicy"}) == "RestartContainer")
      causes.invalid(path, "RestartContainer",
                     "must not be set to 'RestartContainer' for non-sidecar initContainers");
  }
}

constexpr Rule kInitContainer[] = {
    also(kContainer),
    custom(check_name_is_free),
    custom(check_does_not_restart),
};

}  // namespace

constinit const RuleTable kContainerRules{kContainer};
constinit const RuleTable kInitContainerRules{kInitContainer};

}  // namespace plim::local::apiserver
