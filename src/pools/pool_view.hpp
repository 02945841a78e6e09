// The pools of a node as data for commands, HTTP and NodeReports.
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
  CpuSet cpus;    // with siblings, if the pool grants them
  int units = 0;  // thousandths, if the pool is shared
};

struct PoolView {
  std::string name;
  PoolType type = PoolType::common;
  CpuSet cpus;                          // as configured
  CpuSet usable;                        // for shared and default pools: as written to cgroups
  std::map<CpuState, CpuSet> by_state;  // for exclusive pools: has every state
  int millis = 0, millis_used = 0;      // for shared pools
  double fragmentation = 0;
  std::vector<PoolHolder> holders;
};

// By name. Includes removed pools that still drain, and "(rest)" for the remaining CPUs if no
// default pool is configured.
std::vector<PoolView> view_pools(const PoolState& state);

// {"node", "file", "pools": [...], "cpus": [{"cpu", "numa", "l3", "cell"}], "foreign": [...]}: what
// `plimsoll pools` prints and the agent serves.
json::value describe_pools(const PoolState& state, const std::string& node,
                           const std::vector<ForeignProcess>& foreign);

// Section spec.pools of a NodeReport.
json::value report_pools(const PoolState& state);

}  // namespace plim::pools
