// The jobs of a simulation and their times.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "local/sim/schedule.hpp"
#include "local/sim/sim_pod.hpp"
#include "local/sim/simulator.hpp"
#include "local/sim/stage.hpp"

namespace plim::local::sim {

struct Job {
  enum class What : std::uint8_t { make_node, node, lease, images, inventory, kinds, pod };

  What what;
  std::string key;
  // make_node: the number of the node. inventory: the report to repeat. node and pod: the
  // generation that the job was planned for.
  std::uint32_t number = 0;
};

// A simulated object. The simulation acts once on each version of it.
struct Tracked {
  std::string uid;
  std::string acted_on;          // the version that our last write was based on
  std::uint32_t generation = 0;  // jobs of earlier generations are void
  PodStep step = PodStep::none;  // the step of the pending job
  const Stage* stage = nullptr;  // the stage of the pending job
  bool pending = false;          // a job waits or runs
  bool looked = false;           // stages were considered for this version
};

// The schedule of all jobs. Belongs to the simulation's loop; co_await stop() before destroying it.
class Jobs {
 public:
  static constexpr Nanos kRetry = std::chrono::seconds(1);

  Jobs(const Executor& loop, Clock& clock, std::size_t at_once, Simulator::Stats& stats,
       Schedule<Job>::Run run);

  void start() { schedule_.start(); }

  Task<void> stop() { return schedule_.stop(); }

  void add(Job job, Nanos after = Nanos::zero());

  void add_at(SteadyTime when, Job job) { schedule_.add(when, std::move(job)); }

  // Plans the only job of this object; any other becomes void.
  void push(Job job, Tracked& tracked, Nanos after);
  // The job is done; the next version of the object decides what follows.
  static void settle(Tracked& tracked);
  // Called after a failed write. False: the object is gone or has changed. Its informer reports
  // that, so the job is not repeated.
  bool retry(Job job, Tracked& tracked, const Error& error);
  // Counts a failed request and logs it, at most once a minute.
  void note_failure(std::string_view message, std::string_view object, const Error& error);

 private:
  Clock& clock_;
  Simulator::Stats& stats_;
  Schedule<Job> schedule_;
  log::Throttle log_;
};

}  // namespace plim::local::sim
