#include "sched/lease_events.hpp"

#include <utility>

namespace plim::sched {

kube::ObjectReference LeaseEvents::lease(std::string uid) const {
  const ElectionConfig& election = state_.config()->election;
  return {.api_version = "coordination.k8s.io/v1",
          .kind = "Lease",
          .ns = election.ns,
          .name = election.name,
          .uid = std::move(uid)};
}

void LeaseEvents::leader_changed(std::string uid, std::string_view message) {
  const auto& profile = state_.config()->profiles.front().profile;
  events_.record_election(lease(std::move(uid)), profile.scheduler_name, message);
}

void LeaseEvents::warn(std::string reason, std::string note) {
  events_.record({.regarding = lease(""),
                  .controller = "plimsoll-scheduler",
                  .warning = true,
                  .reason = std::move(reason),
                  .action = "Reloading",
                  .note = std::move(note)});
}

}  // namespace plim::sched
