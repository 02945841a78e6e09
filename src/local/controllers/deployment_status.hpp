// How a Deployment describes itself. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "local/controllers/conditions.hpp"
#include "local/controllers/deployment_model.hpp"

namespace plim::local::controllers {

// Deployments also say when they last looked; a condition that says the same as before is left as
// it is.
void set_deployment_condition(json::object& status, const NewCondition& condition, WallTime now);

// The whole new status: numbers, Available, ReplicaFailure.
json::object deployment_status(const DeploymentModel& deployment, DeploymentSets& sets,
                               WallTime now);
// What kubectl rollout status reads: complete, progressing or stuck.
void judge_progress(json::object& status, const DeploymentModel& deployment,
                    const DeploymentSets& sets, WallTime now);

// All pods are of the present template and available, by this status.
bool is_complete(const DeploymentModel& deployment, const json::value& status);
// When to look whether it is stuck, if it is under way.
std::optional<WallTime> progress_deadline(const DeploymentModel& deployment,
                                          const json::value& status);

}  // namespace plim::local::controllers
