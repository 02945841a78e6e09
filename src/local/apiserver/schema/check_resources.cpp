#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/quantity.hpp"
#include "local/apiserver/schema/checks.hpp"
#include "local/apiserver/schema/name_rules.hpp"

namespace plim::local::apiserver {
namespace {

bool is_huge_page(std::string_view name) {
  return name.starts_with("hugepages-");
}

bool is_native(std::string_view name) {
  return name.find('/') == name.npos || name.find("kubernetes.io/") != name.npos;
}

// Only resources that the kernel can reclaim may be overcommitted.
bool is_overcommittable(std::string_view name) {
  return is_native(name) && !is_huge_page(name);
}

std::optional<Quantity> amount_of(const json::value& value) {
  if (!value.is_string()) return std::nullopt;
  auto parsed = parse_quantity(std::string_view(value.get_string()));
  if (!parsed) return std::nullopt;
  return *parsed;
}

void check_resource_name(std::string_view name, const Place& place, Causes& causes) {
  Messages messages = check_qualified_name(name);
  if (!messages.empty()) return causes.invalid_text(place.path(), name, messages);
  bool is_known = name.find('/') != name.npos || name == "cpu" || name == "memory" ||
                  name == "ephemeral-storage" || is_huge_page(name);
  if (is_known) return;
  causes.invalid_text(place.path(), name,
                      {"must be a standard resource type or fully qualified",
                       "must be a standard resource for containers"});
}

void check_amounts(const Place& amounts, Causes& causes) {
  for (const auto& entry : amounts.map("")) {
    const Place place = amounts.of_key(entry.key());
    check_resource_name(entry.key(), place, causes);
    check_amount(place, is_native(entry.key()) ? Whole::no : Whole::yes, causes);
  }
}

}  // namespace

void check_amount(const Place& amount, Whole whole, Causes& causes) {
  auto parsed = amount_of(amount.value());
  if (!parsed) return;
  if (*parsed < Quantity()) causes.invalid(amount.path(), amount.value(), kNotNegative);
  if (whole == Whole::yes && *parsed != Quantity(parsed->value()))
    causes.invalid(amount.path(), amount.value(), "must be an integer");
}

void check_resources(const Place& resources, Causes& causes) {
  const json::object& limits = resources.map("limits");
  const json::object& requests = resources.map("requests");
  check_amounts(resources.in("limits"), causes);
  check_amounts(resources.in("requests"), causes);
  for (const auto& entry : requests) {
    std::string_view name = entry.key();
    const json::value* limit = limits.if_contains(name);
    if (limit == nullptr) {
      if (!is_overcommittable(name))
        causes.required(resources.path("limits"),
                        "Limit must be set for non overcommitable resources");
      continue;
    }
    auto asked = amount_of(entry.value());
    auto most = amount_of(*limit);
    if (!asked || !most) continue;
    bool must_be_equal = !is_overcommittable(name) && *asked != *most;
    if (must_be_equal || *asked > *most)
      causes.invalid(resources.path("requests"), entry.value(),
                     fmt::format("must be {} {} limit of {}",
                                 must_be_equal ? "equal to" : "less than or equal to", name,
                                 most->to_string()));
  }
}

}  // namespace plim::local::apiserver
