#include "kube/toleration.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/json.hpp"
#include "kube/paths.hpp"

namespace plim::kube {
namespace {

std::optional<std::chrono::seconds> limit_of(const json::value& item) {
  auto seconds = int_at(item, "Toleration.tolerationSeconds");
  if (!seconds) return std::nullopt;
  return std::chrono::seconds(std::max<std::int64_t>(0, *seconds));
}

Toleration::Op op_named(std::string_view name, NumericTolerations numeric) {
  using enum Toleration::Op;
  if (name.empty() || name == "Equal") return equal;
  if (name == "Exists") return exists;
  if (numeric == NumericTolerations::off) return never;
  return name == "Gt" ? greater : name == "Lt" ? less : never;
}

// As people write an integer: "-7", not "+7" or "007".
std::optional<std::int64_t> decimal(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty() || digits.front() < '0' || digits.front() > '9') return std::nullopt;
  if (digits.front() == '0' && text.size() > 1) return std::nullopt;
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

}  // namespace

bool Toleration::tolerates(std::string_view taint_key, std::string_view taint_value,
                           std::string_view taint_effect) const {
  if (!effect.empty() && effect != taint_effect) return false;
  if (!key.empty() && key != taint_key) return false;
  if (op == Op::equal) return value == taint_value;
  if (op == Op::exists || op == Op::never) return op == Op::exists;
  const auto mine = decimal(value), its = decimal(taint_value);
  return mine && its && (op == Op::greater ? *its > *mine : *its < *mine);
}

std::vector<Toleration> parse_tolerations(std::string_view text, NumericTolerations numeric) {
  std::vector<Toleration> out;
  if (text.empty()) return out;
  auto list = parse_json(text);
  if (!list || !list->is_array()) return out;
  for (const json::value& item : list->get_array())
    out.push_back({.key = std::string(text_at(item, "Toleration.key")),
                   .value = std::string(text_at(item, "Toleration.value")),
                   .effect = std::string(text_at(item, "Toleration.effect")),
                   .op = op_named(text_at(item, "Toleration.operator"), numeric),
                   .seconds = limit_of(item)});
  return out;
}

bool tolerated(const std::vector<Toleration>& tolerations, const Taint& taint) {
  return std::ranges::any_of(tolerations,
                             [&](const Toleration& one) { return one.tolerates(taint); });
}

bool unschedulable_is_tolerated(const std::vector<Toleration>& tolerations) {
  return std::ranges::any_of(tolerations, [](const Toleration& one) {
    return one.tolerates("node.kubernetes.io/unschedulable", "", "NoSchedule");
  });
}

}  // namespace plim::kube
