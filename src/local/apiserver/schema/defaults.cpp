#include "local/apiserver/schema/defaults.hpp"

#include <array>
#include <utility>

#include "base/text.hpp"
#include "local/apiserver/schema/default_hooks.hpp"
#include "local/apiserver/schema/member_order.hpp"
#include "local/apiserver/schema/scalar_form.hpp"

namespace plim::local::apiserver {
namespace {

constexpr std::array kHooks{
    TypeDefault{"Pod", default_pod},
    TypeDefault{"PodSpec", default_pod_spec},
    TypeDefault{"Container", default_container},
    TypeDefault{"EphemeralContainer", default_container},
    TypeDefault{"Volume", default_volume},
    TypeDefault{"DeploymentStrategy", default_rolling_update},
    TypeDefault{"DaemonSetUpdateStrategy", default_rolling_update},
    TypeDefault{"StatefulSetUpdateStrategy", default_stateful_set_strategy},
    TypeDefault{"DaemonSet", default_daemon_set},
    TypeDefault{"StatefulSet", default_stateful_set},
    TypeDefault{"Job", default_job},
    TypeDefault{"ReplicationController", default_replication_controller},
    TypeDefault{"Service", default_service},
    TypeDefault{"ServicePort", default_service_port},
    TypeDefault{"Secret", default_secret},
    TypeDefault{"Namespace", default_namespace},
    TypeDefault{"NodeSpec", default_node_spec},
    TypeDefault{"NodeStatus", default_node_status},
    TypeDefault{"LimitRangeItem", default_limit_range_item},
    TypeDefault{"ExactDeviceRequest", default_device_request},
    TypeDefault{"DeviceSubRequest", default_device_request},
    TypeDefault{"Subject", default_subject},
    TypeDefault{"NetworkPolicySpec", default_network_policy_spec},
    TypeDefault{"CustomResourceDefinition", default_custom_resource_definition},
};

// Most defaults are plain words and small numbers; running the JSON parser for them is too slow.
json::value fallback_of(const Field& field) {
  const std::string_view text = field.fallback;
  if (text.front() == '"' && text.find('\\') == text.npos)
    return json::value(text.substr(1, text.size() - 2));
  if (text == "true" || text == "false") return text == "true";
  if (text == "{}") return json::object();
  if (text.find_first_not_of("0123456789") == text.npos)
    if (auto number = parse_int<std::int64_t>(text)) return *number;
  auto parsed = parse_json(text);
  PLIM_ASSERT(parsed.has_value());
  return std::move(*parsed);
}

void fill(const Type& type, json::value& value);

void fill_field(const Field& field, json::value& value) {
  if (field.shape == Shape::one) {
    fill(*field.type, value);
  } else if (field.shape == Shape::list && value.is_array()) {
    for (json::value& element : value.get_array()) fill(*field.type, element);
  } else if (field.shape == Shape::map && value.is_object()) {
    for (auto& member : value.get_object()) fill(*field.type, member.value());
  }
}

void fill(const Type& type, json::value& value) {
  if (!value.is_object()) return;
  json::object& object = value.get_object();
  for (const TypeDefault& entry : kHooks)
    if (entry.type == type.name) entry.hook(object);
  for (const Field& field : type.fields) {
    json::value* member = object.if_contains(field.name);
    if (!field.fallback.empty() && (member == nullptr || is_unset(field, *member))) {
      member = &(object[field.name] = fallback_of(field));
    }
    if (member != nullptr && field.type != nullptr) fill_field(field, *member);
  }
  order_members(type, object);
}

}  // namespace

void apply_defaults(std::string_view /*group*/, std::string_view /*kind*/, const Type& type,
                    json::value& object) {
  fill(type, object);
}

void set_if_unset(json::object& object, std::string_view field, json::value value) {
  if (is_unset(object, field)) object[field] = std::move(value);
}

bool is_unset(const json::object& object, std::string_view field) {
  const json::value* value = object.if_contains(field);
  if (value == nullptr || value->is_null()) return true;
  if (value->is_string()) return value->get_string().empty();
  if (value->is_array()) return value->get_array().empty();
  if (value->is_object()) return value->get_object().empty();
  return *value == json::value(0) || *value == json::value(false);
}

void add_missing_entries(const json::object& from, json::object& into) {
  for (const auto& entry : from)
    if (!into.contains(entry.key())) into.emplace(entry.key(), entry.value());
  sort_map(into);
}

json::object& object_in(json::object& object, std::string_view field) {
  json::value& value = object[field];
  if (!value.is_object()) value = json::object();
  return value.get_object();
}

}  // namespace plim::local::apiserver
