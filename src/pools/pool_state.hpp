// Decides which container owns which CPU. Uses no sockets, files or clock, which makes it easy to
// test.
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

// The CPUs or units that one container holds of one pool.
struct Holding {
  std::string pod;  // "namespace/name"; "" if only the uid is known
  std::string uid;  // "" if only the name is known
  std::string container, pool;
  CpuSet cpus = {};                        // listed CPUs, if the pool is exclusive
  int units = 0;                           // devices, if the pool is shared
  std::vector<std::string> unit_ids = {};  // of these devices, while the pool is not configured
  bool found = false;                      // found in a container; the kubelet has lost its record
};

// The state of a listed CPU of an exclusive pool.
enum class CpuState { free, used, draining, withheld, offline };
std::string_view state_name(CpuState state);

// The state follows from the configuration, the machine and the holdings, so nothing is stored on
// disk. If a pool loses a CPU that a container holds, the CPU is draining: it stays with that
// container and its old pool, and joins another pool only when it is free. A changed base name
// renames every resource, so all held CPUs drain: their pool is then the whole name of the old
// resource.
class PoolState {
 public:
  // CPUs that become exclusive are withheld until clear() reports that no other container uses
  // them.
  void configure(NodePools pools, Topology topology);
  void set_online(const CpuSet& online);
  // Sets all current holdings. Allocations that the kubelet does not report yet stay for a while.
  void set_holdings(std::vector<Holding> holdings, SteadyTime now);
  // The kubelet does not answer: allocations that it has not reported yet stay longer.
  void keep_pending(SteadyTime now);
  // Pods hold CPUs of resources with this base name, from before this process started.
  void add_former_base(std::string base);
  // `intruded`: CPUs that a container uses without owning them, as read after the last writes.
  void clear(const CpuSet& intruded);

  // Fails with Code::invalid, the device and the reason; then allocates nothing.
  Result<CpuSet> allocate(std::string_view pool, const node::DeviceIds& ids, SteadyTime now);

  // The CPUs to write for a shared pool now: online, and not owned by a container.
  CpuSet shared_cpus(const Pool& pool) const;
  CpuSet default_cpus() const;
  CpuSet granted(const Holding& holding) const;  // only online CPUs
  CpuSet exclusive_members() const;              // of all exclusive pools and all holdings
  CpuSet guarded() const;                        // the same with sibling threads that stay idle
  CpuSet claimed_by_others(std::string_view uid, std::string_view pod) const;
  // CPUs of any pool that are online and that no container owns: for containers whose own pools
  // have no CPU left.
  CpuSet unclaimed() const;

  CpuState state_of(const Pool& pool, int cpu) const;
  CpuSet free_cpus(const Pool& pool) const;

  const NodePools& pools() const { return pools_; }

  const BaseNames& base_names() const { return bases_; }

  const Topology& topology() const { return topology_; }

  const std::vector<Holding>& holdings() const { return holdings_; }

  const CpuSet& intruded() const { return intruded_; }

  int configurations() const { return configurations_; }  // how many calls of configure()

  // CPUs that are held but no longer in their pool.
  CpuSet draining_of(std::string_view pool) const;

 private:
  struct Share {
    CpuSet granted, claimed;
  };

  // One held CPU. Precomputed, because every device of every list needs it.
  struct Held {
    std::size_t holding;
    int cpu;
    Share share;
  };

  Share share_of(const Holding& holding, int cpu) const;
  void remember();
  void change_base(const std::string& base);
  CpuSet claims() const;  // of all holdings and pending allocations
  CpuSet pending_claims() const;
  bool is_configured(std::string_view pool, int cpu) const;

  NodePools pools_;
  BaseNames bases_;
  Topology topology_;
  std::vector<Holding> holdings_;
  // CPUs that each holding got under the policy of its time: a new policy is for new allocations.
  std::map<std::string, Share> shares_;
  std::vector<Held> held_;
  CpuSet claimed_;  // by all holdings

  struct Pending {
    CpuSet claimed;
    SteadyTime since;
  };

  std::map<std::pair<std::string, int>, Pending> pending_;  // by pool and CPU
  std::set<std::string, std::less<>> once_exclusive_;       // pool names, since the process started
  CpuSet intruded_;
  int configurations_ = 0;
};

}  // namespace plim::pools
