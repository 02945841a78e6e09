// A node in random steps: kubelet, runtime and users as a model, the agent's decisions as they are.
#pragma once

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/clock.hpp"
#include "pools/cpuset_plan.hpp"
#include "pools/device_ids.hpp"
#include "pools/device_list.hpp"
#include "pools/pool_config.hpp"
#include "pools/testing/fake_host.hpp"

namespace plim::pools::testing {

struct SimContainer {
  std::string name;
  std::vector<std::string> resources = {};  // "nokia.k8s.io/exclusive-a"
  // By listed CPU: siblings that were granted too or stay idle, by the policy of that time.
  std::map<int, CpuSet> claims = {};
  bool stuck = false;  // its cgroup refuses writes
};

struct SimPod {
  std::string uid;
  std::vector<SimContainer> containers = {};
};

// Subclasses have the cpusets: in memory, or those of the kernel.
class SimNode {
 public:
  SimNode(unsigned seed, const Machine& machine)
      : random_(seed), cpus_(machine.cpus), machine_(make_topology(machine)) {}

  virtual ~SimNode() = default;
  SimNode(const SimNode&) = delete;
  SimNode& operator=(const SimNode&) = delete;

  void start() {
    pools_ = make_pools();
    start_agent();
  }

  void step() {
    now_ += std::chrono::seconds(1);
    switch (upto(16)) {
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
      case 13:
      case 14:
        return resize_container();
      default:
        return hotplug();
    }
  }

  // Compares what was given to containers with the sets that they have.
  std::string violation() const {
    if (!given_too_early_.empty()) return given_too_early_;
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
      for (const SimContainer& container : pod.containers) {
        if (may_run_anywhere(container)) continue;
        for (int cpu : set_of(path_of(pod, container))) {
          auto found = owner.find(cpu);
          if (found != owner.end() && found->second != pod.uid)
            return fmt::format("{}/{} runs on CPU {} of {}", pod.uid, container.name, cpu,
                               found->second);
        }
      }
    return {};
  }

  // The whole state, for failure messages.
  std::string describe() const {
    std::string out = fmt::format("online {}, default {} of {}, intruded {}, base name {}\n",
                                  machine_.online.to_string(), state_.default_cpus().to_string(),
                                  pools_.default_cpus.to_string(), state_.intruded().to_string(),
                                  pools_.base_name);
    for (const Pool& pool : pools_.pools)
      out += fmt::format("{} {} {}\n", pool.name, pool.cpus.to_string(), policy_name(pool.smt));
    for (const SimPod& pod : pods_)
      for (const SimContainer& container : pod.containers) {
        out += fmt::format("{}/{} runs on {}{}, was given", pod.uid, container.name,
                           set_of(path_of(pod, container)).to_string(),
                           container.stuck ? " (stuck)" : "");
        for (const auto& [listed, claim] : container.claims)
          out += fmt::format(" {}={}", listed, claim.to_string());
        out += fmt::format(", requests {}\n", fmt::join(container.resources, ","));
      }
    for (const Holding& holding : state_.holdings())
      out += fmt::format("holding {}{} {} {}\n", holding.pod, holding.found ? " (found)" : "",
                         holding.pool, holding.cpus.to_string());
    return out;
  }

  int allocations = 0, configurations = 0, waits = 0;

 protected:
  virtual CpuSet set_of(const std::string& path) const = 0;
  // The runtime creates the container with all CPUs of the node, or with these.
  virtual void create(const std::string& path, const CpuSet& cpus) = 0;
  virtual void remove(const std::string& path) = 0;
  // Another program writes the set.
  virtual void overwrite(const std::string& path, const CpuSet& cpus) = 0;
  // Writes the sets that differ; returns the CPUs that are still intruded.
  virtual CpuSet enforce(const std::vector<LiveContainer>& containers) = 0;
  virtual NodePools make_pools() = 0;

  virtual bool can_hotplug() const { return true; }

  virtual bool can_be_stuck() const { return true; }

  int upto(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  CpuSet all() const { return CpuSet::range(0, cpus_ - 1); }

  static std::string path_of(const SimPod& pod, const SimContainer& container) {
    return "pod" + pod.uid + "/" + container.name;
  }

  std::vector<LiveContainer> live() const {
    std::vector<LiveContainer> out;
    for (const SimPod& pod : pods_)
      for (const SimContainer& container : pod.containers) {
        LiveContainer item{.path = path_of(pod, container),
                           .uid = pod.uid,
                           .pod = "ns/" + pod.uid,
                           .container = container.name};
        item.actual = set_of(item.path);
        for (const std::string& resource : container.resources)
          if (std::string pool = state_.base_names().pool_of(resource); !pool.empty())
            item.pools.push_back(std::move(pool));
        out.push_back(std::move(item));
      }
    return out;
  }

  bool is_stuck(const std::string& path) const {
    for (const SimPod& pod : pods_)
      for (const SimContainer& container : pod.containers)
        if (container.stuck && path_of(pod, container) == path) return true;
    return false;
  }

  void end_pods() {
    for (const SimPod& pod : pods_)
      for (const SimContainer& container : pod.containers) remove(path_of(pod, container));
    pods_.clear();
  }

  std::mt19937 random_;
  int cpus_;
  Topology machine_;
  NodePools pools_;
  PoolState state_;
  SteadyTime now_;

 private:
  void start_agent() {
    state_ = PoolState();
    state_.configure(pools_, machine_);
    // As the agent learns them from the environment of the containers.
    for (const SimPod& pod : pods_)
      for (const SimContainer& container : pod.containers)
        for (const std::string& resource : container.resources)
          state_.add_former_base(resource.substr(0, resource.find('/')));
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

  std::vector<Holding> told() const {
    std::vector<Holding> out;
    for (const auto& [key, ids] : records_) {
      std::string pool = state_.base_names().pool_of(std::get<2>(key));
      if (pool.empty()) continue;
      Holding holding{.pod = "ns/" + std::get<0>(key),
                      .uid = "",
                      .container = std::get<1>(key),
                      .pool = std::move(pool)};
      for (const std::string& id : ids)
        if (auto cpu = cpu_of_id(id))
          holding.cpus.add(*cpu);
        else
          ++holding.units;
      out.push_back(std::move(holding));
    }
    return out;
  }

  // Without a default pool, containers without a pool may run anywhere. If every CPU has an owner,
  // containers that own none have nowhere to go.
  bool may_run_anywhere(const SimContainer& container) const {
    if (container.resources.empty() && default_is_empty_) return true;
    return every_cpu_has_an_owner_ && std::ranges::all_of(container.claims, [](const auto& item) {
             return item.second.empty();
           });
  }

  // A CPU must not be given to a container while another one that requests pools runs on it.
  void check_gift(const SimPod& to, int cpu) {
    for (const SimPod& pod : pods_)
      for (const SimContainer& container : pod.containers) {
        const auto set = settled_.find(path_of(pod, container));
        if (pod.uid == to.uid || container.resources.empty() || set == settled_.end()) continue;
        if (set->second.contains(cpu))
          given_too_early_ = fmt::format("CPU {} was given to {} while {}/{} ran on it", cpu,
                                         to.uid, pod.uid, container.name);
      }
  }

  void reconcile() {
    const auto containers = live();
    state_.set_holdings(complete_holdings(state_, told(), containers, now_), now_);
    state_.clear(enforce(containers));
    default_is_empty_ = pools_.default_cpus.empty();
    every_cpu_has_an_owner_ = state_.unclaimed().empty();
    settled_.clear();
    for (const SimPod& pod : pods_)
      for (const SimContainer& container : pod.containers)
        settled_[path_of(pod, container)] = set_of(path_of(pod, container));
    for (const CpusetTarget& target : plan_cpusets(state_, live()).targets) waits += target.waits;
  }

  // Allocates like a kubelet: free healthy devices by its records, those that the plugin prefers.
  bool allocate(SimPod& pod, SimContainer& container, const std::string& pool, int count) {
    const std::string resource = state_.base_names().resource_of(pool);
    std::set<std::string> used;
    for (const auto& [key, ids] : records_)
      if (std::get<2>(key) == resource) used.insert(ids.begin(), ids.end());
    node::PreferredRequest request;
    request.size = count;
    for (const node::Device& device : devices_of(state_, pool))
      if (device.healthy && !used.contains(device.id)) request.available.push_back(device.id);
    if (request.available.size() < static_cast<std::size_t>(count)) return false;
    const node::DeviceIds ids = preferred_devices(state_, pool, request);
    if (!state_.allocate(pool, ids, now_)) return false;
    records_[{pod.uid, container.name, resource}] = ids;
    container.resources.push_back(resource);
    for (const std::string& id : ids)
      if (auto cpu = cpu_of_id(id)) {
        container.claims[*cpu] = pools_.find(pool)->claimed(*cpu, machine_);
        check_gift(pod, *cpu);
      }
    ++allocations;
    return true;
  }

  void create_pod() {
    if (pods_.size() > 12) return;
    SimPod pod{.uid = fmt::format("u{}", ++made_)};
    const int containers = 1 + upto(2);
    for (int i = 0; i < containers; ++i) {
      SimContainer container{.name = fmt::format("c{}", i)};
      container.stuck = can_be_stuck() && upto(25) == 0 && i == 0;
      for (const char* pool : {"exclusive-a", "exclusive-b", "shared-c"}) {
        if (upto(2) == 0) continue;
        if (!allocate(pod, container, pool, 1 + upto(3))) continue;
        container.stuck = false;
      }
      // A container that cannot be confined must not start on default CPUs: it represents one whose
      // cgroup became read-only later.
      create(path_of(pod, container), container.stuck ? state_.default_cpus() : all());
      pod.containers.push_back(std::move(container));
    }
    pods_.push_back(std::move(pod));
    reconcile();
  }

  void delete_pod() {
    if (pods_.empty()) return;
    const auto at = pods_.begin() + upto(static_cast<int>(pods_.size()));
    std::erase_if(records_, [&](const auto& item) { return std::get<0>(item.first) == at->uid; });
    for (const SimContainer& container : at->containers) remove(path_of(*at, container));
    pods_.erase(at);
    now_ += std::chrono::seconds(31);  // pending allocations that were never used expire too
    if (upto(2) == 0) reconcile();
  }

  SimPod* any_pod() {
    return pods_.empty() ? nullptr
                         : &pods_[static_cast<std::size_t>(upto(static_cast<int>(pods_.size())))];
  }

  void restart_container() {
    SimPod* pod = any_pod();
    if (pod == nullptr) return;
    for (SimContainer& container : pod->containers) {
      if (container.stuck) continue;
      remove(path_of(*pod, container));
      create(path_of(*pod, container), all());
    }
    reconcile();
  }

  // After a change of cpu or memory in place, the runtime may write the whole set again.
  void resize_container() {
    SimPod* pod = any_pod();
    if (pod == nullptr) return;
    for (SimContainer& container : pod->containers)
      if (!container.stuck) overwrite(path_of(*pod, container), all());
    if (upto(4) == 0) create_pod();
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
    ++configurations;
    if (upto(2) == 0) create_pod();  // the kubelet may be faster than the setter
    reconcile();
  }

  void hotplug() {
    if (!can_hotplug()) return reconcile();
    const int cpu = 1 + upto(cpus_ - 1);
    if (machine_.online.contains(cpu))
      machine_.online.remove(cpu);
    else
      machine_.online.add(cpu);
    state_.set_online(machine_.online);
    reconcile();
  }

  std::vector<SimPod> pods_;
  std::map<std::tuple<std::string, std::string, std::string>, node::DeviceIds> records_;
  int made_ = 0;
  bool default_is_empty_ = true, every_cpu_has_an_owner_ = false;  // when last reconciled
  std::map<std::string, CpuSet> settled_;  // sets of containers by path, when last reconciled
  std::string given_too_early_;
};

}  // namespace plim::pools::testing
