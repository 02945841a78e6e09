// Plans the next step of a Deployment: rolling update, Recreate, pause and scaling. Pure: takes the
// state and returns everything that has to be written.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "local/controllers/owned_object.hpp"

namespace plim::local::controllers {

struct DeploymentInput {
  ObjectPointer deployment;
  std::vector<ObjectPointer> sets;  // its ReplicaSets
  // Only for Recreate: pods of old templates still exist.
  bool old_pods_running = false;
};

struct SetChange {
  json::value object;
  std::string note;  // message of a ScalingReplicaSet event, "" for none
};

// Carried out in this order; if a step fails, the next call plans the rest.
struct DeploymentPlan {
  std::optional<SetChange> create = {};
  std::vector<SetChange> update = {};
  std::vector<ObjectPointer> remove = {};  // sets beyond the history limit
  json::value status = {};
  std::string revision = {};                // annotation of the Deployment, "" keeps it
  std::optional<WallTime> look_again = {};  // when to check whether it is stuck
};

DeploymentPlan plan_deployment(const DeploymentInput& input, WallTime now);

}  // namespace plim::local::controllers
