// Chooses the CPUs of a pool to allocate next, so that the remaining ones stay useful.
#pragma once

#include "base/cpu_list.hpp"
#include "pools/pool.hpp"
#include "pools/topology.hpp"

namespace plim::pools {

// Chooses `size` CPUs of `free` that include `must`. Prefers the fullest NUMA node that has enough,
// else the nodes with the most free CPUs; within a node the same for caches; then whole cores, if
// threads are allocated one by one; then the lowest numbers. Returns fewer only if `free` is
// smaller.
CpuSet choose_cpus(const Pool& pool, const Topology& topology, const CpuSet& free,
                   const CpuSet& must, int size);

// The largest request that one NUMA node can serve.
int largest_on_one_node(const Topology& topology, const CpuSet& free);

}  // namespace plim::pools
