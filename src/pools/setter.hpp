// Keeps the cpusets of containers equal to the plan of the pools.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "pools/cpuset_plan.hpp"
#include "pools/cpuset_tree.hpp"
#include "pools/pool_state.hpp"

namespace plim::pools {

struct SetterHooks {
  std::function<void(bool good)> on_write = {};
  // The set of a container was right for the first time, this long after it was first seen.
  std::function<void(const LiveContainer& container, const CpusetTarget& target, Nanos took)>
      on_confined = {};
  // A container with a right set has another name now: its environment fitted two containers.
  std::function<void(const LiveContainer& container, const CpusetTarget& target)> on_renamed = {};
  // Another program had changed a set that was right before, and no resize explains it.
  std::function<void(const LiveContainer& container, const CpuSet& was)> on_drift = {};
  // Writing the set failed several times in a row.
  std::function<void(const LiveContainer& container, const CpuSet& cpus, const Error& error)>
      on_refused = {};
};

enum class Writing { allowed, only_look };

// Belongs to one loop.
class Setter {
 public:
  Setter(CpusetTree tree, Clock& clock, Writing writing, SetterHooks hooks);

  const CpusetTree& tree() const { return tree_; }

  struct Outcome {
    std::vector<Note> notes;
    CpuSet intruded;  // exclusive CPUs that a container uses without owning them
    std::vector<std::string> double_booked = {};  // for users, as double_bookings()
    bool settled = true;                          // false: a set could not be written; retry soon
    bool young = false;  // a new container has no name yet; look again soon
  };

  // Writes sets that differ, first those that give up CPUs. Reads the sets again after each round.
  Outcome apply(const PoolState& state, std::vector<LiveContainer> containers);

 private:
  struct Known {
    SteadyTime seen;
    std::optional<CpuSet> right;             // the target when the set was last right
    std::string name = {};                   // of the container, when the set was last right
    std::string resources = {};              // of the container, as last seen
    std::optional<SteadyTime> resized = {};  // when they changed
    int refusals = 0;                        // failed writes in a row
    bool here = true;
  };

  std::vector<CpuSet> read_back(const std::vector<LiveContainer>& containers,
                                std::vector<bool>& inherited) const;
  bool write(const LiveContainer& container, const CpuSet& cpus);
  void note_drift(const std::vector<LiveContainer>& containers, const std::vector<CpuSet>& actual,
                  const std::vector<CpusetTarget>& targets);
  void note_right(const std::vector<LiveContainer>& containers, const std::vector<CpuSet>& actual,
                  const std::vector<CpusetTarget>& targets);

  CpusetTree tree_;
  Clock& clock_;
  Writing writing_;
  SetterHooks hooks_;
  std::map<std::string, Known> known_;  // by cgroup
  log::Throttle log_;
};

}  // namespace plim::pools
