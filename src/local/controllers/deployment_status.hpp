// Computes the status of a Deployment. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "local/controllers/conditions.hpp"
#include "local/controllers/deployment_model.hpp"

namespace plim::local::controllers {

// Also sets lastUpdateTime, which only Deployments have. A condition with equal status and reason
// stays as it is.
void set_deployment_condition(json::object& status, const NewCondition& condition, WallTime now);

// The whole new status: numbers, Available, ReplicaFailure.
json::object deployment_status(const DeploymentModel& deployment, DeploymentSets& sets,
                               WallTime now);
// Sets the condition Progressing that `kubectl rollout status` reads: complete, under way or stuck.
void judge_progress(json::object& status, const DeploymentModel& deployment,
                    const DeploymentSets& sets, WallTime now);

// True if, by this status, all pods have the current template and are available.
bool is_complete(const DeploymentModel& deployment, const json::value& status);
// When to check whether the rollout is stuck; nothing if none is under way.
std::optional<WallTime> progress_deadline(const DeploymentModel& deployment,
                                          const json::value& status);

}  // namespace plim::local::controllers
