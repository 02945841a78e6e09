// Plans the next step of a ReplicaSet and computes its status. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "local/controllers/owned_object.hpp"

namespace plim::local::controllers {

struct ReplicaPlan {
  std::size_t create = 0;
  std::vector<PodPointer> remove = {};
};

// At most this many pods are created or deleted at once.
inline constexpr std::size_t kReplicaBurst = 500;

// `active` are the pods of the set that have neither ended nor are being deleted; `related` are all
// pods that make a node crowded (see DeletionOrder).
ReplicaPlan plan_replicas(std::int64_t wanted, const std::vector<PodPointer>& active,
                          const std::vector<PodPointer>& related, WallTime now);

struct ReplicaCounts {
  std::int64_t replicas = 0;
  std::int64_t fully_labeled = 0;  // have all labels of the template
  std::int64_t ready = 0;
  std::int64_t available = 0;
  std::int64_t terminating = 0;                 // are being deleted and have not ended
  std::optional<WallTime> next_available = {};  // when the next ready pod becomes available
};

ReplicaCounts count_replicas(const json::value& replica_set, const std::vector<PodPointer>& active,
                             WallTime now);

// The new status; `trouble` is the error of the last creation or deletion of pods.
json::value replica_set_status(const Object& replica_set, const ReplicaCounts& counts,
                               const std::optional<Error>& trouble, WallTime now);

}  // namespace plim::local::controllers
