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
  // A lease not renewed for lease_duration may be taken over; its holder stops leading already
  // renew_deadline after its last renewal. The gap between the two is what keeps two from leading.
  std::chrono::seconds lease_duration{15};
  std::chrono::seconds renew_deadline{10};
  std::chrono::seconds retry_period{2};
};

// Belongs to one loop; co_await stop() before destroying it. Other replicas' leases are timed from
// when this process saw them change, by its own clock: the clocks of the machines need not agree.
class LeaderElector {
 public:
  struct Callbacks {
    std::function<void()> on_started = {};
    std::function<void()> on_stopped = {};  // lost or given up; leading must have ended on return
    std::function<void(const std::string& identity)> on_new_leader = {};  // also ourselves
  };

  LeaderElector(const Executor& loop, std::shared_ptr<Client> client, ElectionOptions options,
                Callbacks callbacks, Clock& clock = system_clock(),
                Random& random = system_random());

  void start();
  // Stops leading, then gives the lease back so that another replica need not wait for its end.
  Task<void> stop();

  // Also false as soon as the deadline has passed, whatever the loop is busy with.
  bool is_leader() const;

  // Still leads although its lease ran out longer than `by` ago.
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
