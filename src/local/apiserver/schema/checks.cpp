#include "local/apiserver/schema/checks.hpp"

#include <string>
#include <utility>
#include <vector>

#include "kube/selector.hpp"

namespace plim::local::apiserver {

const json::object& object_at(const json::value& value,
                              std::initializer_list<std::string_view> path) {
  static const json::object kNone;
  const json::value* found = find(value, path);
  return found != nullptr && found->is_object() ? found->get_object() : kNone;
}

const json::value& value_at(const json::value& value,
                            std::initializer_list<std::string_view> path) {
  static const json::value kNone;
  const json::value* found = find(value, path);
  return found != nullptr ? *found : kNone;
}

void check_selector_matches(const Place& selector, const Place& labels, Causes& causes) {
  auto parsed = kube::LabelSelector::from_json(selector.value());
  if (!parsed) return causes.invalid(selector.path(), selector.value(), parsed.error().message);
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& entry : labels.map(""))
    if (entry.value().is_string()) pairs.emplace_back(entry.key(), entry.value().get_string());
  if (!parsed->matches(pairs)) causes.invalid(labels.path(), labels.value(), kDoesNotMatch);
}

}  // namespace plim::local::apiserver
