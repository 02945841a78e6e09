// Who owns which CPU. Without sockets, files and time, so that tests can put it through anything.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/cpu_list.hpp"
#include "base/result.hpp"
#include "node/device_messages.hpp"
#include "pools/pool.hpp"
#include "pools/topology.hpp"

namespace plim::pools {

// What one container holds of one pool.
struct Holding {
  std::string pod;  // "namespace/name", "" when only the uid is known
  std::string uid;  // "" when only the name is known
  std::string container, pool;
  CpuSet cpus = {};    // listed ones, of an exclusive pool
  int units = 0;       // of a shared pool
  bool found = false;  // the kubelet does not know of it: its records were lost
};

// What has become of a listed CPU of an exclusive pool.
enum class CpuState { free, used, draining, withheld, offline };
std::string_view state_name(CpuState state);

// Everything follows from the configuration, the machine and what is held, so nothing needs to be
// kept on disk. A CPU that its pool has lost while somebody holds it is draining: it stays with
// that container and its old pool, and belongs to no other pool before it is free.
class PoolState {
 public:
  // CPUs that become exclusive are withheld until clear() has seen that nobody uses them.
  void configure(NodePools pools, Topology topology);
  void set_online(const CpuSet& online);
  // All that is held now; allocations that the kubelet has not told about yet stay for a while.
  void set_holdings(std::vector<Holding> holdings, SteadyTime now);
  // CPUs that some container uses without owning them, as seen after the last writes.
  void clear(const CpuSet& intruded);

  // Code::invalid with the device and the reason; then nothing is handed out.
  Result<CpuSet> allocate(std::string_view pool, const node::DeviceIds& ids, SteadyTime now);

  // As they may be written now: online, and nobody else's. Of shared pools.
  CpuSet shared_cpus(const Pool& pool) const;
  CpuSet default_cpus() const;
  CpuSet granted(const Holding& holding) const;  // online ones
  CpuSet exclusive_members() const;              // of all exclusive pools and everything held
  CpuSet guarded() const;                        // and the threads that stay idle beside them
  CpuSet claimed_by_others(std::string_view uid, std::string_view pod) const;

  CpuState state_of(const Pool& pool, int cpu) const;
  CpuSet free_cpus(const Pool& pool) const;

  const NodePools& pools() const { return pools_; }

  const Topology& topology() const { return topology_; }

  const std::vector<Holding>& holdings() const { return holdings_; }

  const CpuSet& intruded() const { return intruded_; }

  int configurations() const { return configurations_; }  // so far

  // Held, but no more of its pool.
  CpuSet draining_of(std::string_view pool) const;

 private:
  struct Share {
    CpuSet granted, claimed;
  };

  // One CPU that is held. Looked at for every device of every list, so it is made once.
  struct Held {
    std::size_t holding;
    int cpu;
    Share share;
  };

  Share share_of(const Holding& holding, int cpu) const;
  void remember();
  CpuSet claims() const;  // of all holdings and pending allocations
  CpuSet pending_claims() const;
  bool is_configured(std::string_view pool, int cpu) const;

  NodePools pools_;
  Topology topology_;
  std::vector<Holding> holdings_;
  // A changed policy is for new allocations only: what each got under the one of its time.
  std::map<std::string, Share> shares_;
  std::vector<Held> held_;
  CpuSet claimed_;  // by all of them

  struct Pending {
    CpuSet claimed;
    SteadyTime since;
  };

  std::map<std::pair<std::string, int>, Pending> pending_;  // by pool and CPU
  std::set<std::string, std::less<>> once_exclusive_;       // names of pools, in this life
  CpuSet intruded_;
  int configurations_ = 0;
};

}  // namespace plim::pools
