// A node in random steps: no CPU may ever have two owners.
#include <random>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "pools/cpuset_plan.hpp"
#include "pools/device_ids.hpp"
#include "pools/device_list.hpp"
#include "pools/pool_config.hpp"
#include "pools/testing/fake_host.hpp"

namespace plim::pools {
namespace {

using namespace std::chrono_literals;

constexpr int kCpus = 16;

struct SimContainer {
  std::string name;
  std::vector<std::string> pools;
  std::map<std::string, node::DeviceIds> ids;  // as passed to the runtime
  // By listed CPU: siblings that were granted too or stay idle, by the policy of that time.
  std::map<int, CpuSet> claims = {};
  CpuSet cpuset = CpuSet::range(0, kCpus - 1);
  bool stuck = false;  // its cgroup refuses writes
};

struct SimPod {
  std::string uid;
  std::vector<SimContainer> containers;
};

// A model of kubelet, cgroups and machine, and the agent's steps on them.
class Node {
 public:
  explicit Node(unsigned seed) : random_(seed) {
    machine_ = testing::make_topology({.cpus = kCpus, .threads = 2, .numa_nodes = 2});
    pools_ = make_pools();
    start_agent();
  }

  void step() {
    now_ += 1s;
    switch (upto(14)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return create_pod();
      case 4:
      case 5:
      case 6:
        return delete_pod();
      case 7:
        return restart_container();
      case 8:
        return kubelet_restart(/*loses_records=*/false);
      case 9:
        if (upto(4) == 0) kubelet_restart(/*loses_records=*/true);
        return;
      case 10:
        return start_agent();
      case 11:
      case 12:
        return change_configuration();
      default:
        return hotplug();
    }
  }

  // Checks the CPUs of each container: different pods never have the same exclusive CPU.
  std::string violation() const {
    std::map<int, std::string> owner;
    for (const SimPod& pod : pods_)
      for (const SimContainer& container : pod.containers)
        for (const auto& [listed, claim] : container.claims)
          for (int cpu : claim) {
            auto [at, fresh] = owner.emplace(cpu, pod.uid);
            if (!fresh && at->second != pod.uid)
              return fmt::format("CPU {} was given to {} and {}", cpu, at->second, pod.uid);
          }
    for (const SimPod& pod : pods_)
      for (const SimContainer& container : pod.containers)
        for (int cpu : container.cpuset) {
          auto found = owner.find(cpu);
          if (found != owner.end() && found->second != pod.uid)
            return fmt::format("{}/{} runs on CPU {} of {}", pod.uid, container.name, cpu,
                               found->second);
        }
    return {};
  }

  // The whole state, for failure messages.
  std::string describe() const {
    std::string out =
        fmt::format("online {}, default {}, intruded {}\n", machine_.online.to_string(),
                    state_.default_cpus().to_string(), state_.intruded().to_string());
    for (const Pool& pool : pools_.pools)
      out += fmt::format("{} {} {}\n", pool.name, pool.cpus.to_string(), policy_name(pool.smt));
    for (const SimPod& pod : pods_)
      for (const SimContainer& container : pod.containers) {
        out += fmt::format("{}/{} runs on {}{}, was given", pod.uid, container.name,
                           container.cpuset.to_string(), container.stuck ? " (stuck)" : "");
        for (const auto& [pool, ids] : container.ids)
          if (pool != "shared-c") out += fmt::format(" {}={}", pool, fmt::join(ids, ","));
        out += fmt::format(", asks for {}\n", fmt::join(container.pools, ","));
      }
    for (const Holding& holding : state_.holdings())
      out += fmt::format("holding {}{} {} {}\n", holding.pod, holding.found ? " (found)" : "",
                         holding.pool, holding.cpus.to_string());
    return out;
  }

  int allocations = 0;

 private:
  int upto(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  NodePools make_pools() {
    for (;;) {
      std::vector<std::string> lists(4);
      for (int cpu = 1; cpu < kCpus; ++cpu) {
        if (cpu == kCpus / 2) continue;  // the core of CPU 0 is for those without a pool
        std::string& list = lists[static_cast<std::size_t>(upto(4))];
        list += fmt::format("{}{}", list.empty() ? "" : ",", cpu);
      }
      std::string yaml = "pools:\n";
      const char* policies[] = {"singleThreaded", "multiThreaded", "none"};
      const char* names[] = {"exclusive-a", "exclusive-b", "shared-c"};
      for (int i = 0; i < 3; ++i) {
        const std::string& list = lists[static_cast<std::size_t>(i)];
        if (list.empty() || upto(6) == 0) continue;
        yaml += fmt::format("  {}: {{cpus: '{}'", names[i], list);
        if (i == 2) yaml += ", sharedUnit: 100m";
        if (i < 2) yaml += fmt::format(", hyperThreadingPolicy: {}", policies[upto(3)]);
        yaml += "}\n";
      }
      Problems problems;
      auto loaded = load_node_pools({{"f", yaml}}, {}, machine_, {}, problems);
      if (loaded && !loaded->idle()) return std::move(*loaded);
    }
  }

  void start_agent() {
    state_ = PoolState();
    state_.configure(pools_, machine_);
    reconcile();
    // The kubelet and a restarted agent have forgotten them, and their pool has changed: there is
    // no record left that they were exclusive, or under which policy.
    for (SimPod& pod : pods_)
      for (SimContainer& container : pod.containers) {
        const std::map<int, CpuSet> known = known_claims(pod, container);
        for (auto& [listed, claim] : container.claims) {
          auto found = known.find(listed);
          claim &= found == known.end() ? CpuSet() : found->second;
        }
      }
  }

  std::map<int, CpuSet> known_claims(const SimPod& pod, const SimContainer& container) const {
    std::map<int, CpuSet> out;
    for (const Holding& holding : state_.holdings()) {
      if (holding.pod != "ns/" + pod.uid || holding.container != container.name) continue;
      const Pool* pool = pools_.find(holding.pool);
      for (int cpu : holding.cpus)
        out[cpu] = pool != nullptr && pool->cpus.contains(cpu) ? pool->claimed(cpu, machine_)
                                                               : CpuSet{cpu};
    }
    return out;
  }

  std::vector<LiveContainer> live() const {
    std::vector<LiveContainer> out;
    for (const SimPod& pod : pods_)
      for (const SimContainer& container : pod.containers) {
        LiveContainer item{.path = pod.uid + "/" + container.name,
                           .uid = pod.uid,
                           .pod = "ns/" + pod.uid,
                           .container = container.name,
                           .pools = container.pools,
                           .actual = container.cpuset};
        out.push_back(std::move(item));
      }
    return out;
  }

  std::vector<Holding> told() const {
    std::vector<Holding> out;
    for (const auto& [key, ids] : records_) {
      Holding holding{.pod = "ns/" + std::get<0>(key),
                      .uid = "",
                      .container = std::get<1>(key),
                      .pool = std::get<2>(key)};
      for (const std::string& id : ids)
        if (auto cpu = cpu_of_id(id))
          holding.cpus.add(*cpu);
        else
          ++holding.units;
      out.push_back(std::move(holding));
    }
    return out;
  }

  void reconcile() {
    state_.set_holdings(complete_holdings(state_, told(), live(), now_), now_);
    for (int round = 0; round < 5; ++round) {
      const auto containers = live();
      const CpusetPlan plan = plan_cpusets(state_, containers);
      std::vector<CpuSet> actual;
      for (const LiveContainer& container : containers) actual.push_back(container.actual);
      const auto writes = order_writes(actual, plan.targets, state_.guarded());
      for (const CpusetWrite& write : writes) apply(containers[write.container].path, write.cpus);
      if (writes.empty() || round == 4)
        state_.clear(intruded_cpus(actual, plan.targets, state_.guarded()));
      if (writes.empty()) break;
    }
  }

  void apply(const std::string& path, const CpuSet& cpus) {
    for (SimPod& pod : pods_)
      for (SimContainer& container : pod.containers)
        if (pod.uid + "/" + container.name == path && !container.stuck) container.cpuset = cpus;
  }

  // Allocates like a kubelet: free healthy devices by its records, those that the plugin prefers.
  bool allocate(SimPod& pod, SimContainer& container, const std::string& pool, int count) {
    std::set<std::string> used;
    for (const auto& [key, ids] : records_)
      if (std::get<2>(key) == pool) used.insert(ids.begin(), ids.end());
    node::PreferredRequest request;
    request.size = count;
    for (const node::Device& device : devices_of(state_, pool))
      if (device.healthy && !used.contains(device.id)) request.available.push_back(device.id);
    if (request.available.size() < static_cast<std::size_t>(count)) return false;
    const node::DeviceIds ids = preferred_devices(state_, pool, request);
    if (!state_.allocate(pool, ids, now_)) return false;
    records_[{pod.uid, container.name, pool}] = ids;
    container.ids[pool] = ids;
    for (const std::string& id : ids)
      if (auto cpu = cpu_of_id(id))
        container.claims[*cpu] = pools_.find(pool)->claimed(*cpu, machine_);
    ++allocations;
    return true;
  }

  void create_pod() {
    if (pods_.size() > 12) return;
    SimPod pod{.uid = fmt::format("u{}", ++made_), .containers = {}};
    const int containers = 1 + upto(2);
    for (int i = 0; i < containers; ++i) {
      SimContainer container{.name = fmt::format("c{}", i), .pools = {}, .ids = {}};
      container.stuck = upto(25) == 0 && i == 0;
      for (const char* pool : {"exclusive-a", "exclusive-b", "shared-c"}) {
        if (upto(2) == 0) continue;
        if (!allocate(pod, container, pool, 1 + upto(3))) continue;
        container.pools.emplace_back(pool);
        container.stuck = false;
      }
      // A container that cannot be confined must not start on default CPUs: it represents one whose
      // cgroup became read-only later.
      if (container.stuck) container.cpuset = state_.default_cpus();
      pod.containers.push_back(std::move(container));
    }
    pods_.push_back(std::move(pod));
    reconcile();
  }

  void delete_pod() {
    if (pods_.empty()) return;
    const auto at = pods_.begin() + upto(static_cast<int>(pods_.size()));
    std::erase_if(records_, [&](const auto& item) { return std::get<0>(item.first) == at->uid; });
    pods_.erase(at);
    now_ += 31s;  // pending allocations that were never used expire too
    if (upto(2) == 0) reconcile();
  }

  void restart_container() {
    if (pods_.empty()) return;
    SimPod& pod = pods_[static_cast<std::size_t>(upto(static_cast<int>(pods_.size())))];
    for (SimContainer& container : pod.containers)
      if (!container.stuck) container.cpuset = CpuSet::range(0, kCpus - 1);
    reconcile();
  }

  void kubelet_restart(bool loses_records) {
    if (loses_records) records_.clear();
    reconcile();
  }

  void change_configuration() {
    if (upto(3) > 0) return;
    NodePools next = make_pools();
    // A pool that changes its type or is removed while its containers run.
    pools_ = next;
    state_.configure(std::move(next), machine_);
    if (upto(2) == 0) create_pod();  // the kubelet may be faster than the setter
    reconcile();
  }

  void hotplug() {
    const int cpu = 1 + upto(kCpus - 1);
    if (machine_.online.contains(cpu))
      machine_.online.remove(cpu);
    else
      machine_.online.add(cpu);
    state_.set_online(machine_.online);
    reconcile();
  }

  std::mt19937 random_;
  Topology machine_;
  NodePools pools_;
  PoolState state_;
  SteadyTime now_;
  std::vector<SimPod> pods_;
  std::map<std::tuple<std::string, std::string, std::string>, node::DeviceIds> records_;
  int made_ = 0;
};

TEST(History, never_gives_a_cpu_two_owners_in_10000_random_steps) {
  int allocations = 0;
  for (unsigned seed = 1; seed <= 10; ++seed) {
    Node node(seed);
    for (int step = 0; step < 1000; ++step) {
      node.step();
      ASSERT_EQ(node.violation(), "") << "seed " << seed << ", step " << step << "\n"
                                      << node.describe();
    }
    allocations += node.allocations;
  }
  EXPECT_GT(allocations, 1000) << "the history was not worth its name";
}

}  // namespace
}  // namespace plim::pools
