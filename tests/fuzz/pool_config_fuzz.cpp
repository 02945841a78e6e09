// Pool configurations: whatever they hold, the answer is pools or mistakes, and no CPU is in two
// pools.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "pools/pool_config.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plim;
  pools::Topology topology;
  topology.present = topology.online = CpuSet::range(0, 63);
  for (int cpu = 0; cpu < 64; ++cpu) topology.cpus[cpu].siblings = {cpu % 32, cpu % 32 + 32};
  pools::Problems problems;
  const auto loaded = pools::load_node_pools(
      {{"f", std::string(reinterpret_cast<const char*>(data), size)}}, {}, topology, {}, problems);
  PLIM_ASSERT(loaded.has_value() == problems.errors.empty());
  if (!loaded) return 0;
  CpuSet seen;
  for (const pools::Pool& pool : loaded->pools) {
    const CpuSet members = pool.members(topology);
    PLIM_ASSERT(!members.intersects(seen));
    PLIM_ASSERT(members.is_subset_of(topology.present));
    seen |= members;
  }
  return 0;
}
