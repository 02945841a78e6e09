#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/quantity.hpp"
#include "local/schema/checks.hpp"
#include "local/schema/name_rules.hpp"

namespace plim::local {
namespace {

bool is_huge_page(std::string_view name) {
  return name.starts_with("hugepages-");
}

bool is_native(std::string_view name) {
  return name.find('/') == name.npos || name.find("kubernetes.io/") != name.npos;
}

// Only what the kernel can take away again may be promised twice.
bool is_overcommittable(std::string_view name) {
  return is_native(name) && !is_huge_page(name);
}

std::optional<Quantity> amount_of(const json::value& value) {
  if (!value.is_string()) return std::nullopt;
  auto parsed = parse_quantity(std::string_view(value.get_string()));
  if (!parsed) return std::nullopt;
  return *parsed;
}

void check_resource_name(std::string_view name, const std::string& path, Causes& causes) {
  Messages messages = check_qualified_name(name);
  causes.invalid_text(path, name, messages);
  if (!messages.empty() || name.find('/') != name.npos) return;
  bool is_known =
      name == "cpu" || name == "memory" || name == "ephemeral-storage" || is_huge_page(name);
  if (is_known) return;
  causes.invalid_text(path, name,
                      {"must be a standard resource type or fully qualified",
                       "must be a standard resource for containers"});
}

void check_amounts(const json::object& amounts, const std::string& path, Causes& causes) {
  for (const auto& entry : amounts) {
    std::string place = fmt::format("{}[{}]", path, std::string_view(entry.key()));
    check_resource_name(entry.key(), place, causes);
    auto amount = amount_of(entry.value());
    if (!amount) continue;
    if (*amount < Quantity()) causes.invalid(place, entry.value(), kNotNegative);
    bool is_whole = *amount == Quantity(amount->value());
    if (!is_native(entry.key()) && !is_whole)
      causes.invalid(place, entry.value(), "must be an integer");
  }
}

}  // namespace

void check_resources(const json::value& resources, const std::string& path, Causes& causes) {
  const json::object& limits = object_at(resources, {"limits"});
  const json::object& requests = object_at(resources, {"requests"});
  check_amounts(limits, path + ".limits", causes);
  check_amounts(requests, path + ".requests", causes);
  for (const auto& entry : requests) {
    std::string_view name = entry.key();
    const json::value* limit = limits.if_contains(name);
    if (limit == nullptr) {
      if (!is_overcommittable(name))
        causes.required(path + ".limits", "Limit must be set for non overcommitable resources");
      continue;
    }
    auto asked = amount_of(entry.value());
    auto most = amount_of(*limit);
    if (!asked || !most) continue;
    bool must_be_equal = !is_overcommittable(name) && *asked != *most;
    if (must_be_equal || *asked > *most)
      causes.invalid(path + ".requests", entry.value(),
                     fmt::format("must be {} {} limit of {}",
                                 must_be_equal ? "equal to" : "less than or equal to", name,
                                 most->to_string()));
  }
}

}  // namespace plim::local
