// Which CPUs of a pool to hand out next, so that those left over stay useful.
#pragma once

#include "base/cpu_list.hpp"
#include "pools/pool.hpp"
#include "pools/topology.hpp"

namespace plim::pools {

// `size` of `free`, with all of `must` among them. One NUMA node if one has enough, the fullest of
// those; else those with the most room; inside the same over caches; then whole cores where threads
// are handed out one by one; then the lowest numbers. Fewer only when `free` has fewer.
CpuSet choose_cpus(const Pool& pool, const Topology& topology, const CpuSet& free,
                   const CpuSet& must, int size);

// The largest request that one NUMA node can serve.
int largest_on_one_node(const Topology& topology, const CpuSet& free);

}  // namespace plim::pools
