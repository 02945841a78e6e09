#include "local/controllers/deployment_status.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/rfc3339.hpp"

namespace plim::local::controllers {
namespace {

constexpr std::string_view kNewSetAvailable = "NewReplicaSetAvailable";
constexpr std::string_view kTimedOut = "ProgressDeadlineExceeded";

std::string_view field(const json::object* condition, std::string_view name) {
  const json::value* value = condition ? condition->if_contains(name) : nullptr;
  return value && value->is_string() ? std::string_view(value->get_string()) : "";
}

std::int64_t number(const json::value& status, kube::IntPath path) {
  return kube::int_at(status, path).value_or(0);
}

// True if a count improved since the status was written.
bool has_progressed(const json::value& before, const json::value& now) {
  auto grew = [&](kube::IntPath path) { return number(now, path) > number(before, path); };
  auto old_pods = [](const json::value& status) {
    return number(status, "DeploymentStatus.replicas") -
           number(status, "DeploymentStatus.updatedReplicas");
  };
  return grew("DeploymentStatus.updatedReplicas") || grew("DeploymentStatus.readyReplicas") ||
         grew("DeploymentStatus.availableReplicas") || old_pods(now) < old_pods(before);
}

bool has_timed_out(const DeploymentModel& deployment, const json::value& status, WallTime now) {
  const json::object* progressing = find_condition(status, "Progressing");
  if (!progressing || field(progressing, "reason") == kNewSetAvailable) return false;
  if (field(progressing, "reason") == kTimedOut) return true;
  auto since = parse_rfc3339(field(progressing, "lastUpdateTime"));
  return since && *since + *deployment.progress_deadline < now;
}

// The failure condition of a ReplicaSet, the current one first.
std::optional<json::object> replica_failure(DeploymentSets& sets) {
  std::vector<SetModel*> order = sets.all();
  std::reverse(order.begin(), order.end());
  for (const SetModel* set : order) {
    const json::value* status = kube::find(set->json, "ReplicaSet.status");
    const json::object* failure = status ? find_condition(*status, "ReplicaFailure") : nullptr;
    if (!failure) continue;
    json::object out = *failure;
    if (const json::value* since =
            failure->if_contains(kube::key("ReplicaSetCondition.lastTransitionTime")))
      out[kube::key("DeploymentCondition.lastUpdateTime")] = *since;
    return out;
  }
  return std::nullopt;
}

}  // namespace

void set_deployment_condition(json::object& status, const NewCondition& condition, WallTime now) {
  const json::value before(status);
  const json::object* present = find_condition(before, condition.type);
  if (present && field(present, "status") == condition.status &&
      field(present, "reason") == condition.reason)
    return;
  json::object made = make_condition(condition, now);
  made[kube::key("DeploymentCondition.lastUpdateTime")] = format_rfc3339(now);
  put_condition(status, std::move(made));
}

json::object deployment_status(const DeploymentModel& deployment, DeploymentSets& sets,
                               WallTime now) {
  json::object out = deployment.status.get_object();
  std::int64_t actual = 0;
  std::int64_t ready = 0;
  std::int64_t terminating = 0;
  for (const SetModel* set : sets.all()) {
    actual += set->actual;
    ready += set->ready;
    terminating += set->terminating.value_or(0);
  }
  const std::int64_t available = sets.total_available();
  set_or_omit(out, "DeploymentStatus.observedGeneration", deployment.object->meta.generation);
  set_or_omit(out, "DeploymentStatus.replicas", actual);
  set_or_omit(out, "DeploymentStatus.updatedReplicas", sets.current ? sets.current->actual : 0);
  set_or_omit(out, "DeploymentStatus.readyReplicas", ready);
  set_or_omit(out, "DeploymentStatus.availableReplicas", available);
  set_or_omit(out, "DeploymentStatus.unavailableReplicas",
              std::max<std::int64_t>(0, sets.total() - available));
  out[kube::key("DeploymentStatus.terminatingReplicas")] = terminating;
  if (available >= deployment.min_available()) {
    set_deployment_condition(out,
                             {.type = "Available",
                              .status = "True",
                              .reason = "MinimumReplicasAvailable",
                              .message = "Deployment has minimum availability."},
                             now);
  } else {
    set_deployment_condition(out,
                             {.type = "Available",
                              .status = "False",
                              .reason = "MinimumReplicasUnavailable",
                              .message = "Deployment does not have minimum availability."},
                             now);
  }
  if (auto failure = replica_failure(sets)) {
    const json::value before(out);
    const json::object* present = find_condition(before, "ReplicaFailure");
    if (!present || *present != *failure) put_condition(out, std::move(*failure));
  } else {
    remove_condition(out, "ReplicaFailure");
  }
  return out;
}

void judge_progress(json::object& status, const DeploymentModel& deployment,
                    const DeploymentSets& sets, WallTime now) {
  const json::object* before = find_condition(deployment.status, "Progressing");
  const json::value numbers(status);
  const bool settled = number(numbers, "DeploymentStatus.replicas") ==
                           number(numbers, "DeploymentStatus.updatedReplicas") &&
                       field(before, "reason") == kNewSetAvailable;
  const std::string who = sets.current
                              ? fmt::format("ReplicaSet \"{}\"", sets.current->name())
                              : fmt::format("Deployment \"{}\"", deployment.object->meta.name);
  if (!deployment.progress_deadline) {
    remove_condition(status, "Progressing");
  } else if (settled) {
    // Scaling after a finished rollout does not start a new one.
  } else if (is_complete(deployment, numbers)) {
    const std::string message = who + " has successfully progressed.";
    set_deployment_condition(
        status,
        {.type = "Progressing", .status = "True", .reason = kNewSetAvailable, .message = message},
        now);
  } else if (has_progressed(deployment.status, numbers)) {
    // Replaced each time: the deadline counts from the last progress.
    const std::string message = who + " is progressing.";
    json::object made = make_condition({.type = "Progressing",
                                        .status = "True",
                                        .reason = "ReplicaSetUpdated",
                                        .message = message},
                                       now);
    made[kube::key("DeploymentCondition.lastUpdateTime")] = format_rfc3339(now);
    put_condition(status, std::move(made));
  } else if (has_timed_out(deployment, numbers, now)) {
    const std::string message = who + " has timed out progressing.";
    set_deployment_condition(
        status, {.type = "Progressing", .status = "False", .reason = kTimedOut, .message = message},
        now);
  }
}

bool is_complete(const DeploymentModel& deployment, const json::value& status) {
  return number(status, "DeploymentStatus.updatedReplicas") == deployment.replicas &&
         number(status, "DeploymentStatus.replicas") == deployment.replicas &&
         number(status, "DeploymentStatus.availableReplicas") == deployment.replicas &&
         number(status, "DeploymentStatus.observedGeneration") >=
             deployment.object->meta.generation;
}

std::optional<WallTime> progress_deadline(const DeploymentModel& deployment,
                                          const json::value& status) {
  const json::object* progressing = find_condition(status, "Progressing");
  if (!deployment.progress_deadline || !progressing) return std::nullopt;
  // A finished rollout has no deadline, even if pods are missing again.
  const std::string_view reason = field(progressing, "reason");
  if (is_complete(deployment, status) || reason == kTimedOut || reason == kNewSetAvailable)
    return std::nullopt;
  auto since = parse_rfc3339(field(progressing, "lastUpdateTime"));
  if (!since) return std::nullopt;
  return *since + *deployment.progress_deadline + std::chrono::seconds(1);
}

}  // namespace plim::local::controllers
