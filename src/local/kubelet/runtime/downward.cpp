#include "local/kubelet/runtime/downward.hpp"

#include <map>

#include <fmt/format.h>

#include "kube/object.hpp"
#include "kube/paths.hpp"
#include "local/kubelet/nodes/pod_limits.hpp"

namespace plim::local::kubelet {

namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string lines_of(const json::value* map) {
  std::map<std::string_view, std::string_view> sorted;
  if (map != nullptr && map->is_object())
    for (const auto& [key, value] : map->as_object())
      if (value.is_string()) sorted[key] = value.as_string();
  std::string out;
  for (const auto& [key, value] : sorted)
    out += fmt::format("{}{}={}", out.empty() ? "" : "\n", key, quoted(value));
  return out;
}

// "metadata.labels['app']" with this prefix: app.
std::optional<std::string_view> subscript(std::string_view path, std::string_view prefix) {
  if (!path.starts_with(prefix)) return std::nullopt;
  path.remove_prefix(prefix.size());
  if (!path.starts_with("['") || !path.ends_with("']") || path.size() < 5) return std::nullopt;
  return path.substr(2, path.size() - 4);
}

std::int64_t divided_up(std::int64_t value, std::int64_t by) {
  return by <= 0 ? value : (value + by - 1) / by;
}

}  // namespace

Result<std::string> field_value(const json::value& pod, const PodPlace& place,
                                std::string_view path) {
  const std::map<std::string_view, std::string_view> plain{
      {"metadata.name", kube::name_of(pod)},
      {"metadata.namespace", kube::namespace_of(pod)},
      {"metadata.uid", kube::uid_of(pod)},
      {"spec.nodeName", place.node},
      {"spec.serviceAccountName", kube::text_at(pod, "Pod.spec.serviceAccountName")},
      {"status.hostIP", place.host_ip},
      {"status.hostIPs", place.host_ip},
      {"status.podIP", place.pod_ip},
      {"status.podIPs", place.pod_ip}};
  if (const auto found = plain.find(path); found != plain.end()) return std::string(found->second);
  if (path == "metadata.labels") return lines_of(kube::find(pod, "Pod.metadata.labels"));
  if (path == "metadata.annotations") return lines_of(kube::find(pod, "Pod.metadata.annotations"));
  if (const auto key = subscript(path, "metadata.labels"))
    return std::string(kube::label_of(pod, *key));
  if (const auto key = subscript(path, "metadata.annotations"))
    return std::string(kube::annotation_of(pod, *key));
  return fail(Code::invalid, fmt::format("unsupported fieldPath: {}", path));
}

Result<std::string> resource_value(const json::value& pod, const json::value& container,
                                   const PodPlace& place, const json::value& reference) {
  const std::string_view name = kube::text_at(reference, "ResourceFieldSelector.containerName");
  const json::value* of = name.empty() ? &container : find_container(pod, name);
  if (of == nullptr) return fail(Code::not_found, fmt::format("container {} not found", name));
  const std::string_view resource = kube::text_at(reference, "ResourceFieldSelector.resource");
  const auto dot = resource.find('.');
  if (dot == resource.npos)
    return fail(Code::invalid, fmt::format("unsupported container resource : {}", resource));
  const std::string_view list = resource.substr(0, dot), kind = resource.substr(dot + 1);
  const std::string_view divisor_text = kube::text_at(reference, "ResourceFieldSelector.divisor");
  Quantity divisor(1);
  if (!divisor_text.empty() && divisor_text != "0") {
    PLIM_TRY(divisor, parse_quantity(divisor_text));
  }
  Quantity amount;
  if (const std::string_view text = text_at(*of, {"resources", list, kind}); !text.empty()) {
    PLIM_TRY(amount, parse_quantity(text));
  } else if (list == "limits" && kind == "cpu") {
    amount = place.cpu;
  } else if (list == "limits" && kind == "memory") {
    amount = place.memory;
  }
  return std::to_string(kind == "cpu" ? divided_up(amount.milli_value(), divisor.milli_value())
                                      : divided_up(amount.value(), divisor.value()));
}

}  // namespace plim::local::kubelet
