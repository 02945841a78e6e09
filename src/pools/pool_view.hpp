// The pools of a node for people and for other programs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "pools/foreign.hpp"
#include "pools/pool_state.hpp"

namespace plim::pools {

struct PoolHolder {
  std::string pod, container;
  CpuSet cpus;    // with siblings, where the pool gives them
  int units = 0;  // thousandths, of a shared pool
};

struct PoolView {
  std::string name;
  PoolType type = PoolType::common;
  CpuSet cpus;                          // as configured
  CpuSet usable;                        // of shared and default pools: as written to cgroups
  std::map<CpuState, CpuSet> by_state;  // of exclusive pools, every state
  int millis = 0, millis_used = 0;      // of shared pools
  double fragmentation = 0;
  std::vector<PoolHolder> holders;
};

// By name; removed pools that still drain are among them, and the rest as "(rest)" if nobody named
// a default pool.
std::vector<PoolView> view_pools(const PoolState& state);

// {"node", "file", "pools": [...], "cpus": [{"cpu", "numa", "l3", "cell"}], "foreign": [...]}: what
// `plimsoll pools` prints and the agent serves.
json::value describe_pools(const PoolState& state, const std::string& node,
                           const std::vector<ForeignProcess>& foreign);

// Section spec.pools of a NodeReport.
json::value report_pools(const PoolState& state);

}  // namespace plim::pools
