#include "local/kubelet/runtime/pod_admission.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "base/quantity.hpp"
#include "base/text.hpp"
#include "kube/object.hpp"
#include "local/kubelet/nodes/pod_limits.hpp"

namespace plim::local::kubelet {

namespace {

std::int64_t shown(std::string_view resource, const Quantity& amount) {
  return resource == "cpu" ? amount.milli_value() : amount.value();
}

std::optional<PodFailure> check_resources(const json::value& pod, const json::value& node,
                                          const std::vector<json::value>& others) {
  const json::value* allocatable = find(node, {"status", "allocatable"});
  if (allocatable == nullptr) return std::nullopt;
  const auto available = [&](std::string_view name) {
    const auto amount = parse_quantity(text_at(*allocatable, {name}));
    return amount ? *amount : Quantity();
  };
  const Quantity pods = available("pods");
  if (static_cast<std::int64_t>(others.size()) + 1 > pods.value())
    return PodFailure{"OutOfpods",
                      fmt::format("Node didn't have enough resource: pods, requested: 1, used: "
                                  "{}, capacity: {}",
                                  others.size(), pods.value())};
  // Devices are counted by whoever hands them out.
  for (std::string_view name : {"cpu", "memory", "ephemeral-storage"}) {
    const Quantity wanted = pod_amount(pod, "requests", name);
    Quantity used;
    for (const json::value& other : others) used += pod_amount(other, "requests", name);
    if (!wanted.is_zero() && used + wanted > available(name))
      return PodFailure{
          fmt::format("OutOf{}", name),
          fmt::format("Node didn't have enough resource: {}, requested: {}, used: {}, capacity: {}",
                      name, shown(name, wanted), shown(name, used), shown(name, available(name)))};
  }
  return std::nullopt;
}

using Port = std::tuple<std::string, std::string, std::int64_t>;  // address, protocol, number

std::set<Port> host_ports(const json::value& pod) {
  std::set<Port> out;
  for (const json::value& container : list_at(pod, {"spec", "containers"}))
    for (const json::value& port : list_at(container, {"ports"})) {
      const auto number = int_at(port, {"hostPort"}).value_or(0);
      if (number == 0) continue;
      std::string address(text_at(port, {"hostIP"})), protocol(text_at(port, {"protocol"}));
      if (address == "0.0.0.0") address.clear();
      out.emplace(address, protocol.empty() ? "TCP" : protocol, number);
    }
  return out;
}

bool collide(const Port& a, const Port& b) {
  const auto& [address_a, protocol_a, number_a] = a;
  const auto& [address_b, protocol_b, number_b] = b;
  return number_a == number_b && protocol_a == protocol_b &&
         (address_a.empty() || address_b.empty() || address_a == address_b);
}

bool ports_are_free(const json::value& pod, const std::vector<json::value>& others) {
  const std::set<Port> wanted = host_ports(pod);
  for (const json::value& other : others)
    for (const Port& taken : host_ports(other))
      for (const Port& port : wanted)
        if (collide(port, taken)) return false;
  return true;
}

bool expression_matches(const json::value& expression, std::optional<std::string_view> value) {
  const std::string_view op = text_at(expression, {"operator"});
  const json::array& values = list_at(expression, {"values"});
  const bool listed = value && std::any_of(values.begin(), values.end(), [&](const auto& v) {
                        return v.is_string() && std::string_view(v.as_string()) == *value;
                      });
  if (op == "In") return listed;
  if (op == "NotIn") return !listed;
  if (op == "Exists") return value.has_value();
  if (op == "DoesNotExist") return !value.has_value();
  if (!value || values.size() != 1 || !values[0].is_string()) return false;
  const auto own = parse_int<std::int64_t>(*value);
  const auto limit = parse_int<std::int64_t>(values[0].as_string());
  if (!own || !limit) return false;
  return op == "Gt" ? *own > *limit : op == "Lt" && *own < *limit;
}

bool term_matches(const json::value& term, const json::value& node) {
  const json::array& labels = list_at(term, {"matchExpressions"});
  const json::array& fields = list_at(term, {"matchFields"});
  if (labels.empty() && fields.empty()) return false;
  for (const json::value& expression : labels) {
    const json::value* label = find(node, {"metadata", "labels", text_at(expression, {"key"})});
    std::optional<std::string_view> value;
    if (label != nullptr && label->is_string()) value = label->as_string();
    if (!expression_matches(expression, value)) return false;
  }
  for (const json::value& expression : fields)
    if (text_at(expression, {"key"}) != "metadata.name" ||
        !expression_matches(expression, kube::name_of(node)))
      return false;
  return true;
}

bool affinity_matches(const json::value& pod, const json::value& node) {
  if (const json::value* wanted = find(pod, {"spec", "nodeSelector"});
      wanted != nullptr && wanted->is_object())
    for (const auto& [key, value] : wanted->as_object())
      if (!value.is_string() || kube::label_of(node, key) != std::string_view(value.as_string()))
        return false;
  const json::value* required = find(
      pod, {"spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"});
  if (required == nullptr) return true;
  const json::array& terms = list_at(*required, {"nodeSelectorTerms"});
  return std::any_of(terms.begin(), terms.end(),
                     [&](const json::value& term) { return term_matches(term, node); });
}

}  // namespace

bool is_active(const json::value& pod) {
  const std::string_view phase = text_at(pod, {"status", "phase"});
  return phase != "Succeeded" && phase != "Failed";
}

std::optional<PodFailure> refuse_pod(const json::value& pod, const json::value& node,
                                     const std::vector<json::value>& others) {
  if (auto failure = check_resources(pod, node, others)) return failure;
  if (!affinity_matches(pod, node))
    return PodFailure{"NodeAffinity",
                      "Predicate NodeAffinity failed: node(s) didn't match Pod's node "
                      "affinity/selector"};
  if (!ports_are_free(pod, others))
    return PodFailure{"NodePorts",
                      "Predicate NodePorts failed: node(s) didn't have free ports for the "
                      "requested pod ports"};
  return std::nullopt;
}

}  // namespace plim::local::kubelet
