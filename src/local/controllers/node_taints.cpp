#include "local/controllers/node_taints.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "base/rfc3339.hpp"
#include "kube/toleration.hpp"
#include "local/controllers/conditions.hpp"
#include "local/controllers/pod_questions.hpp"

namespace plim::local::controllers {
namespace {

struct Rule {
  std::string_view condition, status, key;
};

constexpr std::array kRules{
    Rule{"Ready", "False", "node.kubernetes.io/not-ready"},
    Rule{"Ready", "Unknown", "node.kubernetes.io/unreachable"},
    Rule{"MemoryPressure", "True", "node.kubernetes.io/memory-pressure"},
    Rule{"DiskPressure", "True", "node.kubernetes.io/disk-pressure"},
    Rule{"PIDPressure", "True", "node.kubernetes.io/pid-pressure"},
    Rule{"NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"},
};
constexpr std::string_view kUnschedulable = "node.kubernetes.io/unschedulable";

struct Wanted {
  std::string_view key, effect;
};

// `status_of` returns the status of a condition, "" if the node has none of that type.
template <class StatusOf>
std::vector<Wanted> wanted_taints(const StatusOf& status_of, bool unschedulable) {
  std::vector<Wanted> out;
  const bool told = !status_of("Ready").empty();
  for (const Rule& rule : kRules) {
    // A node that has not reported yet is not ready.
    const bool silent = !told && rule.status == "False";
    if (!silent && status_of(rule.condition) != rule.status) continue;
    out.push_back({rule.key, "NoSchedule"});
    if (rule.condition == "Ready" && told) out.push_back({rule.key, "NoExecute"});
  }
  if (unschedulable) out.push_back({kUnschedulable, "NoSchedule"});
  return out;
}

bool is_ours(std::string_view key, std::string_view effect) {
  if (effect != "NoSchedule" && effect != "NoExecute") return false;
  return key == kUnschedulable || std::any_of(kRules.begin(), kRules.end(), [&](const Rule& rule) {
           return rule.key == key && (effect == "NoSchedule" || rule.condition == "Ready");
         });
}

bool is_one_of(std::string_view key, std::string_view effect, const std::vector<Wanted>& wanted) {
  return std::any_of(wanted.begin(), wanted.end(),
                     [&](const Wanted& one) { return key == one.key && effect == one.effect; });
}

}  // namespace

std::optional<json::array> taints_by_conditions(const json::value& node, WallTime now) {
  const json::value* status = kube::find(node, "Node.status");
  auto status_of = [&](std::string_view type) -> std::string {
    const json::object* condition = status ? find_condition(*status, type) : nullptr;
    return condition ? std::string(kube::text_at(json::value(*condition), "NodeCondition.status"))
                     : "";
  };
  std::vector<Wanted> wanted =
      wanted_taints(status_of, kube::bool_at(node, "Node.spec.unschedulable"));
  json::array out;
  bool changed = false;
  for (const json::value& taint : kube::list_at(node, "Node.spec.taints")) {
    const std::string_view key = kube::text_at(taint, "Taint.key");
    const std::string_view effect = kube::text_at(taint, "Taint.effect");
    if (is_ours(key, effect) && !is_one_of(key, effect, wanted)) {
      changed = true;
      continue;
    }
    out.push_back(taint);
    std::erase_if(wanted,
                  [&](const Wanted& one) { return one.key == key && one.effect == effect; });
  }
  for (const Wanted& one : wanted) {
    json::object made{{"key", one.key}, {"effect", one.effect}};
    if (one.effect == "NoExecute") made[kube::key("Taint.timeAdded")] = format_rfc3339(now);
    out.push_back(std::move(made));
    changed = true;
  }
  if (!changed) return std::nullopt;
  return out;
}

bool has_right_taints(const kube::Node& node) {
  auto status_of = [&](std::string_view type) -> std::string_view {
    const kube::Condition* condition = find_condition(node.conditions, type);
    return condition ? condition->status.view() : "";
  };
  std::vector<Wanted> wanted = wanted_taints(status_of, node.unschedulable);
  for (const kube::Taint& taint : node.taints) {
    if (is_ours(taint.key, taint.effect) && !is_one_of(taint.key, taint.effect, wanted))
      return false;
    std::erase_if(wanted, [&](const Wanted& one) {
      return taint.key == one.key && taint.effect == one.effect;
    });
  }
  return wanted.empty();
}

std::optional<json::array> silent_conditions(const json::value& node, WallTime now) {
  const json::value* status = kube::find(node, "Node.status");
  json::object copy = status && status->is_object() ? status->get_object() : json::object();
  bool changed = false;
  for (std::string_view type : {"MemoryPressure", "DiskPressure", "PIDPressure", "Ready"}) {
    const json::value before(copy);
    const json::object* present = find_condition(before, type);
    if (present && kube::text_at(json::value(*present), "NodeCondition.status") == "Unknown")
      continue;
    const NewCondition condition{.type = type,
                                 .status = "Unknown",
                                 .reason = present ? "NodeStatusUnknown" : "NodeStatusNeverUpdated",
                                 .message = present ? "Kubelet stopped posting node status."
                                                    : "Kubelet never posted node status."};
    json::object made = make_condition(condition, now);
    const json::value* heartbeat =
        present ? present->if_contains(kube::key("NodeCondition.lastHeartbeatTime")) : nullptr;
    made[kube::key("NodeCondition.lastHeartbeatTime")] =
        heartbeat ? *heartbeat : json::value(format_rfc3339(now));
    put_condition(copy, std::move(made));
    changed = true;
  }
  if (!changed) return std::nullopt;
  return copy[kube::key("NodeStatus.conditions")].as_array();
}

std::optional<std::chrono::seconds> stays_for(const kube::Pod& pod,
                                              const std::vector<kube::Taint>& taints) {
  const std::vector<kube::Toleration> tolerations = kube::parse_tolerations(pod.spec.tolerations);
  std::optional<std::chrono::seconds> shortest;
  for (const kube::Taint& taint : taints) {
    if (taint.effect != "NoExecute") continue;
    bool tolerated = false;
    for (const kube::Toleration& one : tolerations) {
      if (!one.tolerates(taint)) continue;
      tolerated = true;
      if (one.seconds) shortest = std::min(shortest.value_or(*one.seconds), *one.seconds);
    }
    if (!tolerated) return std::chrono::seconds(0);
  }
  return shortest;
}

}  // namespace plim::local::controllers
