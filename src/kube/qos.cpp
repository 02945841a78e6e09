#include "kube/qos.hpp"

#include <array>
#include <optional>

#include "base/quantity.hpp"
#include "kube/paths.hpp"

namespace plim::kube {
namespace {

constexpr std::array<std::string_view, 2> kCounted = {"cpu", "memory"};

struct Totals {
  std::array<std::optional<Quantity>, kCounted.size()> requests;
  std::array<std::optional<Quantity>, kCounted.size()> limits;
  bool every_container_is_limited = true;
};

// An amount of zero counts as absent.
std::optional<Quantity> amount(const json::value& resources, std::string_view which,
                               std::string_view name) {
  auto parsed = parse_quantity(text_at(resources, {which, name}));
  if (!parsed || *parsed <= Quantity()) return std::nullopt;
  return *parsed;
}

void add(std::optional<Quantity>& total, const std::optional<Quantity>& more) {
  if (more) total = total.value_or(Quantity()) + *more;
}

void add_resources(Totals& totals, const json::value& resources) {
  for (std::size_t i = 0; i < kCounted.size(); ++i) {
    auto limit = amount(resources, "limits", kCounted[i]);
    add(totals.limits[i], limit);
    add(totals.requests[i], amount(resources, "requests", kCounted[i]));
    totals.every_container_is_limited = totals.every_container_is_limited && limit.has_value();
  }
}

void add_containers(Totals& totals, const json::value& spec, std::string_view list) {
  static const json::value kNone = json::object();
  for (const json::value& container : list_at(spec, {list})) {
    const json::value* resources = find(container, "Container.resources");
    add_resources(totals, resources != nullptr ? *resources : kNone);
  }
}

bool has_own_resources(const json::value& spec) {
  for (std::string_view which : {"requests", "limits"}) {
    const json::value* amounts = find(spec, {"resources", which});
    if (amounts != nullptr && amounts->is_object() && !amounts->get_object().empty()) return true;
  }
  return false;
}

}  // namespace

std::string_view qos_class(const json::value& pod) {
  const json::value* spec = find(pod, "Pod.spec");
  return spec != nullptr ? qos_class_of_spec(*spec) : "BestEffort";
}

std::string_view qos_class_of_spec(const json::value& spec) {
  Totals totals;
  if (has_own_resources(spec)) {
    add_resources(totals, *find(spec, "PodSpec.resources"));
  } else {
    add_containers(totals, spec, "containers");
    add_containers(totals, spec, "initContainers");
  }
  bool any = false;
  for (std::size_t i = 0; i < kCounted.size(); ++i)
    any = any || totals.requests[i].has_value() || totals.limits[i].has_value();
  if (!any) return "BestEffort";
  if (totals.every_container_is_limited && totals.requests == totals.limits) return "Guaranteed";
  return "Burstable";
}

}  // namespace plim::kube
