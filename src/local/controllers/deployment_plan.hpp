// What a Deployment does next: the rules of rolling updates, re-creation, pausing and scaling.
// Pure: it is told the state and answers with everything that is to be written.
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
  // Recreate only: pods of former templates are still there.
  bool old_pods_running = false;
};

struct SetChange {
  json::value object;
  std::string note;  // the text of a ScalingReplicaSet event, "" for none
};

// To be carried out in this order; if a step fails the rest is planned anew later.
struct DeploymentPlan {
  std::optional<SetChange> create = {};
  std::vector<SetChange> update = {};
  std::vector<ObjectPointer> remove = {};  // beyond the history limit
  json::value status = {};
  std::string revision = {};                // annotation of the Deployment, "" to leave it
  std::optional<WallTime> look_again = {};  // whether it is stuck
};

DeploymentPlan plan_deployment(const DeploymentInput& input, WallTime now);

}  // namespace plim::local::controllers
