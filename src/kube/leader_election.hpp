// One of several replicas leads, by a Lease, as client-go does it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"

namespace plim::kube {

struct ElectionOptions {
  std::string ns = "default";
  std::string name;      // of the Lease
  std::string identity;  // unique among the replicas
  // Another replica may take over a lease that was not renewed for lease_duration. The holder stops
  // leading renew_deadline after its last renewal, which is earlier. So two never lead at once.
  std::chrono::seconds lease_duration{15};
  std::chrono::seconds renew_deadline{10};
  std::chrono::seconds retry_period{2};
};

// Belongs to one loop; co_await stop() before destroying it. The age of another replica's lease
// counts from when this process saw it change, by its own clock: clocks of machines need not agree.
class LeaderElector {
 public:
  struct Callbacks {
    std::function<void()> on_started = {};
    std::function<void()> on_stopped =
        {};  // leadership was lost or given up; the work of a leader must have ended on return
    std::function<void(const std::string& identity)> on_new_leader =
        {};  // also called for this replica
  };

  LeaderElector(const Executor& loop, std::shared_ptr<Client> client, ElectionOptions options,
                Callbacks callbacks, Clock& clock = system_clock(),
                Random& random = system_random());

  void start();
  // Stops leading and releases the lease, so that another replica need not wait until it expires.
  Task<void> stop();

  // False as soon as the deadline has passed, even if the loop is busy.
  bool is_leader() const;

  // True if it still leads although its lease expired more than `by` ago.
  bool is_overdue(Nanos by) const;

  const std::string& leader() const { return leader_; }  // as last seen, "" before

  const std::string& identity() const { return options_.identity; }

  std::string lease_uid() const;  // as last seen, "" before

 private:
  Task<void> contend();
  Task<void> guard();
  Task<bool> acquire_or_renew();
  Task<Result<void>> write(json::value lease, bool create);
  void observe(json::value lease);
  void stop_leading();
  json::value make_spec(WallTime now) const;

  std::shared_ptr<Client> client_;
  ElectionOptions options_;
  Callbacks callbacks_;
  Clock& clock_;
  Random& random_;

  bool leading_ = false;
  SteadyTime renewed_{};   // when the last successful renewal was sent
  json::value lease_;      // as last seen or written
  SteadyTime observed_{};  // when its spec last changed
  std::string leader_;
  log::Throttle log_;
  TaskGroup tasks_;
};

}  // namespace plim::kube
