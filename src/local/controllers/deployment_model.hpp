// A Deployment and its ReplicaSets as the planner reads and changes them. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "local/controllers/owned_object.hpp"

namespace plim::local::controllers {

inline constexpr std::string_view kPodTemplateHash = "pod-template-hash";
inline constexpr std::string_view kRevision = "deployment.kubernetes.io/revision";
inline constexpr std::string_view kRevisionHistory = "deployment.kubernetes.io/revision-history";
inline constexpr std::string_view kDesiredReplicas = "deployment.kubernetes.io/desired-replicas";
inline constexpr std::string_view kMaxReplicas = "deployment.kubernetes.io/max-replicas";

// Equal for templates that create equal pods: ignores the hash label, nulls and the order of keys.
std::string template_identity(const json::value& pod_template);
// At most ten characters that represent the template in names and labels. The count of collisions
// gives the next try another name.
std::string template_hash(const json::value& pod_template, std::int64_t collisions);

struct DeploymentModel {
  explicit DeploymentModel(const Object& deployment);

  // How many pods may exist above the wanted number, and be missing below it. Never both zero.
  std::int64_t max_surge = 0;
  std::int64_t max_unavailable = 0;

  std::int64_t max_total() const { return replicas + max_surge; }

  std::int64_t min_available() const { return replicas - max_unavailable; }

  const Object* object;
  std::int64_t replicas;
  bool rolling;  // else Recreate
  bool paused;
  std::int64_t min_ready;
  std::optional<std::int64_t> history_limit;
  std::optional<std::chrono::seconds> progress_deadline;
  std::string identity;  // of the template
  json::value status;    // as it is now
};

// One ReplicaSet; `json` contains the planner's changes.
struct SetModel {
  explicit SetModel(ObjectPointer set);

  void annotate(std::string_view key, std::string_view value);  // sets `changed` if it is new
  std::string_view annotation(std::string_view key) const;
  std::int64_t revision() const;  // 0 if it has none

  std::string_view name() const { return kube::name_of(json); }

  ObjectPointer object;  // null: to be created
  json::value json;
  bool changed = false;
  std::string note = {};  // the message of the event after the write

  std::int64_t replicas;                  // wanted
  std::int64_t actual, ready, available;  // from its status
  std::optional<std::int64_t> terminating;
  std::string identity;
  WallTime created;
};

// The ReplicaSet of the current template is separate from the others. There are few sets, and their
// order matters.
struct DeploymentSets {
  DeploymentSets(const DeploymentModel& deployment, const std::vector<ObjectPointer>& sets);

  std::optional<SetModel> current;  // has the Deployment's template
  std::vector<SetModel> old;        // oldest first

  std::vector<SetModel*> all();
  std::vector<SetModel*> active();  // sets with replicas > 0
  std::int64_t total() const;       // wanted pods of all sets
  std::int64_t total_available() const;
};

// How many pods the current ReplicaSet may have now without exceeding the total.
std::int64_t next_current_size(const DeploymentModel& deployment, const DeploymentSets& sets,
                               std::int64_t present);

// Distributes a changed number of replicas among the active sets, largest first.
struct SetSize {
  SetModel* set;
  std::int64_t size;
};

std::vector<SetSize> share_proportionally(const DeploymentModel& deployment, DeploymentSets& sets);

}  // namespace plim::local::controllers
