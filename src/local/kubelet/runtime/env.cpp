#include "local/kubelet/runtime/env.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/base64.hpp"
#include "base/text.hpp"
#include "kube/object.hpp"
#include "kube/paths.hpp"

namespace plim::local::kubelet {

namespace {

std::string variable_name(std::string_view service) {
  std::string out(service);
  for (char& c : out)
    c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

enum class Kind { config_map, secret };

struct Reference {
  Kind kind;
  std::string name;
  bool optional = false;

  std::string_view noun() const { return kind == Kind::secret ? "secret" : "configmap"; }

  std::string_view type() const { return kind == Kind::secret ? "Secret" : "ConfigMap"; }

  const json::value* find_in(const PodSources& sources) const {
    const auto& map = kind == Kind::secret ? sources.secrets : sources.config_maps;
    const auto found = map.find(name);
    return found == map.end() ? nullptr : &found->second;
  }

  Result<std::string> decoded(std::string_view text) const {
    if (kind == Kind::config_map) return std::string(text);
    return base64_decode(text);
  }
};

// All four kinds of references have the fields `name` and `optional`.
std::optional<Reference> reference_in(const json::value* config_map, const json::value* secret) {
  const json::value* given = config_map != nullptr ? config_map : secret;
  if (given == nullptr) return std::nullopt;
  return Reference{config_map != nullptr ? Kind::config_map : Kind::secret,
                   std::string(kube::text_at(*given, "ConfigMapEnvSource.name")),
                   kube::bool_at(*given, "ConfigMapEnvSource.optional")};
}

Result<void> add_all_keys(const json::value& from, const PodSources& sources, Environment& out) {
  const auto reference = reference_in(kube::find(from, "EnvFromSource.configMapRef"),
                                      kube::find(from, "EnvFromSource.secretRef"));
  if (!reference) return {};
  const json::value* object = reference->find_in(sources);
  if (object == nullptr && reference->optional) return {};
  if (object == nullptr)
    return fail(Code::not_found,
                fmt::format("{} \"{}\" not found", reference->noun(), reference->name));
  const std::string prefix(kube::text_at(from, "EnvFromSource.prefix"));
  const json::value* data = kube::find(*object, "ConfigMap.data");
  if (data == nullptr || !data->is_object()) return {};
  for (const auto& [key, value] : data->as_object()) {
    if (!value.is_string()) continue;
    PLIM_TRY(std::string text, reference->decoded(value.as_string()));
    out.set(prefix + std::string(key), std::move(text));
  }
  return {};
}

// None: the reference is optional and its object does not exist.
Result<std::optional<std::string>> value_from(const json::value& pod, const json::value& container,
                                              const PodPlace& place, const PodSources& sources,
                                              const json::value& from) {
  if (const std::string_view path = kube::text_at(from, "EnvVarSource.fieldRef.fieldPath");
      !path.empty()) {
    PLIM_TRY(std::string text, field_value(pod, place, path));
    return std::optional(std::move(text));
  }
  if (const json::value* resource = kube::find(from, "EnvVarSource.resourceFieldRef")) {
    PLIM_TRY(std::string text, resource_value(pod, container, place, *resource));
    return std::optional(std::move(text));
  }
  const auto reference = reference_in(kube::find(from, "EnvVarSource.configMapKeyRef"),
                                      kube::find(from, "EnvVarSource.secretKeyRef"));
  if (!reference) return std::optional<std::string>();
  const std::string_view key = reference->kind == Kind::secret
                                   ? kube::text_at(from, "EnvVarSource.secretKeyRef.key")
                                   : kube::text_at(from, "EnvVarSource.configMapKeyRef.key");
  const json::value* object = reference->find_in(sources);
  if (object == nullptr) {
    if (reference->optional) return std::optional<std::string>();
    return fail(Code::not_found,
                fmt::format("{} \"{}\" not found", reference->noun(), reference->name));
  }
  const json::value* value = kube::find(*object, "ConfigMap.data", key);
  if (value == nullptr || !value->is_string()) {
    if (reference->optional) return std::optional<std::string>();
    return fail(Code::not_found,
                fmt::format("couldn't find key {} in {} {}/{}", key, reference->type(),
                            kube::namespace_of(pod), reference->name));
  }
  PLIM_TRY(std::string text, reference->decoded(value->as_string()));
  return std::optional(std::move(text));
}

}  // namespace

void Environment::set(std::string_view name, std::string value) {
  for (Entry& entry : entries_)
    if (entry.first == name) {
      entry.second = std::move(value);
      return;
    }
  entries_.emplace_back(name, std::move(value));
}

const std::string* Environment::get(std::string_view name) const {
  for (const Entry& entry : entries_)
    if (entry.first == name) return &entry.second;
  return nullptr;
}

std::string expand(std::string_view text, const Environment& environment) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char next = text[++i];
    if (next == '$') {
      out += '$';
      continue;
    }
    const std::size_t end = next == '(' ? text.find(')', i) : text.npos;
    if (end == text.npos) {
      out += '$';
      out += next;
      continue;
    }
    const std::string_view name = text.substr(i + 1, end - i - 1);
    const std::string* value = environment.get(name);
    out += value != nullptr ? *value : fmt::format("$({})", name);
    i = end;
  }
  return out;
}

void add_service_links(const std::vector<json::value>& services, Environment& out) {
  for (const json::value& service : services) {
    const std::string_view address = kube::text_at(service, "Service.spec.clusterIP");
    const json::value* spec = kube::find(service, "Service.spec");
    if (spec == nullptr || address.empty() || address == "None") continue;
    const json::array& ports = kube::list_at(*spec, "ServiceSpec.ports");
    if (ports.empty()) continue;
    const std::string name = variable_name(kube::name_of(service));
    const auto number = [](const json::value& port) {
      return kube::int_at(port, "ServicePort.port").value_or(0);
    };
    out.set(name + "_SERVICE_HOST", std::string(address));
    out.set(name + "_SERVICE_PORT", std::to_string(number(ports[0])));
    for (const json::value& port : ports)
      if (const std::string_view port_name = kube::text_at(port, "ServicePort.name");
          !port_name.empty())
        out.set(fmt::format("{}_SERVICE_PORT_{}", name, variable_name(port_name)),
                std::to_string(number(port)));
    for (std::size_t i = 0; i < ports.size(); ++i) {
      const std::string_view given = kube::text_at(ports[i], "ServicePort.protocol");
      const std::string protocol = given.empty() ? "tcp" : to_lower(given);
      const std::string url = fmt::format("{}://{}:{}", protocol, address, number(ports[i]));
      if (i == 0) out.set(name + "_PORT", url);
      const std::string prefix =
          fmt::format("{}_PORT_{}_{}", name, number(ports[i]), variable_name(protocol));
      out.set(prefix, url);
      out.set(prefix + "_PROTO", protocol);
      out.set(prefix + "_PORT", std::to_string(number(ports[i])));
      out.set(prefix + "_ADDR", std::string(address));
    }
  }
}

Result<Environment> make_environment(const json::value& pod, const json::value& container,
                                     const PodPlace& place, const PodSources& sources,
                                     Environment base) {
  add_service_links(sources.services, base);
  for (const json::value& from : kube::list_at(container, "Container.envFrom"))
    PLIM_CHECK(add_all_keys(from, sources, base));
  for (const json::value& entry : kube::list_at(container, "Container.env")) {
    const std::string_view name = kube::text_at(entry, "EnvVar.name");
    if (const json::value* from = kube::find(entry, "EnvVar.valueFrom")) {
      PLIM_TRY(auto value, value_from(pod, container, place, sources, *from));
      if (value) base.set(name, std::move(*value));
    } else {
      base.set(name, expand(kube::text_at(entry, "EnvVar.value"), base));
    }
  }
  return base;
}

}  // namespace plim::local::kubelet
