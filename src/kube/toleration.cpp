#include "kube/toleration.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "kube/paths.hpp"

namespace plim::kube {
namespace {

std::optional<std::chrono::seconds> limit_of(const json::value& item) {
  auto seconds = int_at(item, "Toleration.tolerationSeconds");
  if (!seconds) return std::nullopt;
  return std::chrono::seconds(std::max<std::int64_t>(0, *seconds));
}

}  // namespace

bool Toleration::tolerates(std::string_view taint_key, std::string_view taint_value,
                           std::string_view taint_effect) const {
  if (!effect.empty() && effect != taint_effect) return false;
  if (!key.empty() && key != taint_key) return false;
  return exists || value == taint_value;
}

std::vector<Toleration> parse_tolerations(std::string_view text) {
  std::vector<Toleration> out;
  if (text.empty()) return out;
  auto list = parse_json(text);
  if (!list || !list->is_array()) return out;
  for (const json::value& item : list->get_array())
    out.push_back({.key = std::string(text_at(item, "Toleration.key")),
                   .value = std::string(text_at(item, "Toleration.value")),
                   .effect = std::string(text_at(item, "Toleration.effect")),
                   .exists = text_at(item, "Toleration.operator") == "Exists",
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
