// Computes the CPUs of each container and the order of the writes. Uses no files and no clock.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/cpu_list.hpp"
#include "pools/pool_state.hpp"

namespace plim::pools {

// A container, or a sandbox, with a cgroup.
struct LiveContainer {
  std::string path;                     // of the cgroup; identifies the container
  std::string uid, pod;                 // pod: "namespace/name"; "" until the API reports it
  std::string container = {};           // "": unknown, or the sandbox
  std::vector<std::string> pools = {};  // requested pools
  CpuSet actual = {};                   // current CPUs of its cgroup
  bool ending = false;                  // its pod is being deleted
  bool nameless = false;                // pod with pools, but container name not known yet
  bool resizing = false;                // the kubelet is changing its resources in place
  std::string resources = {};           // its CPU and memory in the pod's spec
  std::optional<CpuSet> told = {};      // from the environment of its first process
};

struct Note {
  enum class Kind { no_allocation, withheld, offline, pool_lost, pool_held };
  Kind kind;
  std::size_t container;  // index in the list of containers
  std::string text;
};

struct CpusetTarget {
  CpuSet cpus;  // empty: do not change
  bool pooled = false;
  // No CPU of its pools is free. It stays where no container owns a CPU, and what it uses goes to
  // nobody else until it has left.
  bool waits = false;
};

struct CpusetPlan {
  std::vector<CpusetTarget> targets;  // one for each container
  std::vector<Note> notes;
};

// Adds exclusive CPUs of containers that the kubelet has forgotten. Takes them from the last
// holdings of `state`, else from the environment of the container, else from its cgroup if that
// fits the request, no other container owns them and no other pod is confined to them.
std::vector<Holding> complete_holdings(const PoolState& state, std::vector<Holding> told,
                                       const std::vector<LiveContainer>& containers,
                                       SteadyTime now);

CpusetPlan plan_cpusets(const PoolState& state, const std::vector<LiveContainer>& containers);

struct CpusetWrite {
  std::size_t container;
  CpuSet cpus;
};

// One round of writes for the current sets. First come containers that give up CPUs. When there are
// none, the others get CPUs, except those that another container still uses and should not. Empty:
// nothing to do, or nothing that is safe yet. The caller reads the sets again after each round.
// Leaves out containers whose set could not be written (`refused`, empty: none), so that they do
// not hold up the others.
std::vector<CpusetWrite> order_writes(const std::vector<CpuSet>& actual,
                                      const std::vector<CpusetTarget>& targets,
                                      const CpuSet& exclusive,
                                      const std::vector<bool>& refused = {});

// Exclusive CPUs that are in the set of a container that should not have them. Containers without a
// pool do not count if there is no default pool: then they may run anywhere.
CpuSet intruded_cpus(const std::vector<CpuSet>& actual, const std::vector<CpusetTarget>& targets,
                     const CpuSet& exclusive);

// For users: each CPU that a container owns although another pod has it in its set too.
std::vector<std::string> double_bookings(const PoolState& state,
                                         const std::vector<LiveContainer>& containers,
                                         const std::vector<CpuSet>& actual,
                                         const std::vector<CpusetTarget>& targets);

}  // namespace plim::pools
