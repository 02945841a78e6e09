// Which CPUs each container is to have, and in which order the sets are written. No files, no time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/cpu_list.hpp"
#include "pools/pool_state.hpp"

namespace plim::pools {

// A container, or a sandbox, with a cgroup.
struct LiveContainer {
  std::string path;                     // names it
  std::string uid, pod;                 // "namespace/name" when the API told
  std::string container = {};           // "": unknown, or the sandbox
  std::vector<std::string> pools = {};  // it asks for
  CpuSet actual = {};                   // as its cgroup has them
  bool ending = false;                  // with its pod
  bool nameless = false;                // which one of a pod with pools, nobody can tell yet
  std::optional<CpuSet> told = {};      // in the environment of its first process
};

struct Note {
  enum class Kind { no_allocation, withheld, offline, pool_lost };
  Kind kind;
  std::size_t container;  // its place in the list
  std::string text;
};

struct CpusetTarget {
  CpuSet cpus;  // empty: leave it alone
  bool pooled = false;
};

struct CpusetPlan {
  std::vector<CpusetTarget> targets;  // one for each container
  std::vector<Note> notes;
};

// What the kubelet tells, and exclusive CPUs of containers that it has forgotten: those they had
// when `state` was last told, else those in their own environment, else what they run on, if it
// fits what they ask for and is nobody else's.
std::vector<Holding> complete_holdings(const PoolState& state, std::vector<Holding> told,
                                       const std::vector<LiveContainer>& containers,
                                       SteadyTime now);

CpusetPlan plan_cpusets(const PoolState& state, const std::vector<LiveContainer>& containers);

struct CpusetWrite {
  std::size_t container;
  CpuSet cpus;
};

// One round of writes, given what each has now: first those that give CPUs up, then those that get
// some, and of these only CPUs that no other container has without being meant to. Empty: nothing
// to do, or nothing that is safe yet. After each write the one written has what it was given.
std::vector<CpusetWrite> order_writes(const std::vector<CpuSet>& actual,
                                      const std::vector<CpusetTarget>& targets,
                                      const CpuSet& exclusive);

// Exclusive CPUs in sets they should not be in. Containers that are left alone do not count: there
// is no other place for them.
CpuSet intruded_cpus(const std::vector<CpuSet>& actual, const std::vector<CpusetTarget>& targets,
                     const CpuSet& exclusive);

}  // namespace plim::pools
