#include "local/controllers/disruption_plan.hpp"

#include <algorithm>

#include "local/controllers/conditions.hpp"
#include "local/controllers/pod_questions.hpp"

namespace plim::local::controllers {
namespace {

bool is_percentage(const json::value* value) {
  return value && value->is_string();
}

// Evictions that were granted and have not happened yet. Sets when the first of them times out.
json::object evictions_under_way(const json::object& status, const DisruptionInput& input,
                                 WallTime now, DisruptionPlan& out) {
  json::object under_way;
  const json::value* granted =
      status.if_contains(kube::key("PodDisruptionBudgetStatus.disruptedPods"));
  if (!granted || !granted->is_object()) return under_way;
  for (const auto& [name, time] : granted->get_object()) {
    auto pod = std::find_if(input.pods.begin(), input.pods.end(),
                            [&](const PodPointer& one) { return one->meta.name == name; });
    if (pod == input.pods.end() || (*pod)->meta.deleted) continue;
    auto since = parse_rfc3339(text_at(time, {}));
    if (!since || *since + kEvictionTimeout <= now) continue;
    const WallTime ends = *since + kEvictionTimeout;
    out.look_again = std::min(out.look_again.value_or(ends), ends);
    under_way[name] = time;
  }
  return under_way;
}

}  // namespace

DisruptionPlan plan_disruptions(const DisruptionInput& input, WallTime now) {
  const json::value& budget = input.budget->json;
  const json::value* present = kube::find(budget, "PodDisruptionBudget.status");
  json::object status = present && present->is_object() ? present->get_object() : json::object();
  DisruptionPlan out;
  json::object under_way = evictions_under_way(status, input, now, out);

  std::int64_t healthy = 0;
  for (const PodPointer& pod : input.pods)
    if (!pod->meta.deleted && is_ready(*pod) && !under_way.contains(pod->meta.name)) ++healthy;

  const json::value* most = kube::find(budget, "PodDisruptionBudget.spec.maxUnavailable");
  const json::value* least = kube::find(budget, "PodDisruptionBudget.spec.minAvailable");
  std::int64_t expected = static_cast<std::int64_t>(input.pods.size());
  std::int64_t desired = 0;
  if (most) {
    expected = input.expected;
    desired = expected - int_or_percent(most, expected, Round::up).value_or(0);
  } else if (least) {
    if (is_percentage(least)) expected = input.expected;
    desired = int_or_percent(least, expected, Round::up).value_or(0);
  }
  desired = std::max<std::int64_t>(0, desired);
  const std::int64_t allowed = expected <= 0 ? 0 : std::max<std::int64_t>(0, healthy - desired);

  set_or_omit(status, "PodDisruptionBudgetStatus.observedGeneration",
              input.budget->meta.generation);
  status[kube::key("PodDisruptionBudgetStatus.disruptionsAllowed")] = allowed;
  status[kube::key("PodDisruptionBudgetStatus.currentHealthy")] = healthy;
  status[kube::key("PodDisruptionBudgetStatus.desiredHealthy")] = desired;
  status[kube::key("PodDisruptionBudgetStatus.expectedPods")] = expected;
  if (under_way.empty()) {
    status.erase(kube::key("PodDisruptionBudgetStatus.disruptedPods"));
  } else {
    status[kube::key("PodDisruptionBudgetStatus.disruptedPods")] = std::move(under_way);
  }
  json::object condition =
      make_condition({.type = "DisruptionAllowed",
                      .status = allowed > 0 ? "True" : "False",
                      .reason = allowed > 0 ? "SufficientPods" : "InsufficientPods"},
                     now);
  condition[kube::key("Condition.observedGeneration")] = input.budget->meta.generation;
  put_condition(status, std::move(condition));
  out.status = std::move(status);
  return out;
}

}  // namespace plim::local::controllers
