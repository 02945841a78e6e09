#include "local/controllers/conditions.hpp"

#include "base/rfc3339.hpp"
#include "kube/paths.hpp"

namespace plim::local::controllers {

const json::object* find_condition(const json::value& status, std::string_view type) {
  for (const json::value& one : kube::list_at(status, "DeploymentStatus.conditions"))
    if (one.is_object() && kube::text_at(one, "Condition.type") == type) return &one.get_object();
  return nullptr;
}

bool has_true_condition(const json::value& status, std::string_view type) {
  const json::object* found = find_condition(status, type);
  const json::value* value = found ? found->if_contains(kube::key("Condition.status")) : nullptr;
  return value && value->is_string() && value->get_string() == "True";
}

json::object make_condition(const NewCondition& condition, WallTime now) {
  return {{"type", condition.type},
          {"status", condition.status},
          {"lastTransitionTime", format_rfc3339(now)},
          {"reason", condition.reason},
          {"message", condition.message}};
}

void put_condition(json::object& status, json::object condition) {
  const json::value as_value(status);
  const json::value type = condition[kube::key("Condition.type")];
  if (const json::object* before = find_condition(as_value, std::string_view(type.get_string()))) {
    const json::value* state = before->if_contains(kube::key("Condition.status"));
    const json::value* since = before->if_contains(kube::key("Condition.lastTransitionTime"));
    if (state && since && *state == condition[kube::key("Condition.status")])
      condition[kube::key("Condition.lastTransitionTime")] = *since;
  }
  remove_condition(status, std::string_view(type.get_string()));
  json::value& list = status[kube::key("DeploymentStatus.conditions")];
  if (!list.is_array()) list = json::array();
  list.get_array().push_back(std::move(condition));
}

void remove_condition(json::object& status, std::string_view type) {
  json::value* list = status.if_contains(kube::key("DeploymentStatus.conditions"));
  if (!list || !list->is_array()) return;
  json::array kept;
  for (json::value& one : list->get_array())
    if (kube::text_at(one, "Condition.type") != type) kept.push_back(std::move(one));
  if (kept.empty()) {
    status.erase(kube::key("DeploymentStatus.conditions"));
  } else {
    *list = std::move(kept);
  }
}

}  // namespace plim::local::controllers
