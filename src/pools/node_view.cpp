#include "pools/node_view.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "pools/device_ids.hpp"
#include "pools/grants.hpp"

namespace plim::pools {
namespace {

constexpr std::string_view kConfigHash = "kubernetes.io/config.hash";
constexpr std::string_view kConfigMirror = "kubernetes.io/config.mirror";
constexpr std::string_view kResizeInProgress = "PodResizeInProgress";

std::string id_of(std::string_view container_id) {
  const std::size_t at = container_id.find("://");
  return std::string(at == container_id.npos ? container_id : container_id.substr(at + 3));
}

// Pools cannot be resized, so only these can change.
std::string resources_of(const kube::Container& container) {
  std::string out;
  for (const auto* list : {&container.requests, &container.limits}) {
    for (const auto& [name, amount] : *list)
      if (name == "cpu" || name == "memory")
        out += fmt::format("{}={},", name.view(), amount.view());
    out += ';';
  }
  return out;
}

// The kubelet knows a static pod by the hash of its file. The API shows the pod as a mirror pod
// that belongs to the node. On any other pod the annotation is only what the pod's author wrote.
std::string uid_on_node(const kube::Pod& pod) {
  const bool is_nodes = std::ranges::any_of(
      pod.meta.owners, [](const kube::Owner& owner) { return owner.kind == "Node"; });
  const auto annotation = [&](std::string_view name) {
    auto found = std::ranges::find_if(pod.meta.annotations,
                                      [&](const auto& one) { return one.first.view() == name; });
    return found == pod.meta.annotations.end() ? std::string() : found->second;
  };
  std::string hash = annotation(kConfigHash);
  const bool is_mirror = is_nodes && !hash.empty() && !annotation(kConfigMirror).empty();
  return is_mirror ? hash : pod.meta.uid;
}

// By its UID, else as a static pod. Anybody may create a pod that looks like the mirror of another
// pod, so a hash that several pods have names none of them.
const PodFacts* find_pod(const std::vector<PodFacts>& pods, std::string_view cgroup_uid) {
  auto found = std::ranges::find(pods, cgroup_uid, &PodFacts::uid);
  if (found != pods.end()) return &*found;
  found = std::ranges::find(pods, cgroup_uid, &PodFacts::cgroup_uid);
  if (found == pods.end()) return nullptr;
  const auto again = std::ranges::find(found + 1, pods.end(), cgroup_uid, &PodFacts::cgroup_uid);
  return again == pods.end() ? &*found : nullptr;
}

// The kubelet reports the IDs of containers, so they decide whose a cgroup is, whatever else pods
// claim.
const PodFacts* find_pod(const std::vector<PodFacts>& pods, const ContainerCgroup& cgroup) {
  const auto has_it = [&](const PodFacts& pod) {
    return pod.cgroup_uid == cgroup.uid &&
           std::ranges::find(pod.containers, cgroup.id, &ContainerFacts::id) !=
               pod.containers.end();
  };
  if (!cgroup.id.empty())
    if (auto found = std::ranges::find_if(pods, has_it); found != pods.end()) return &*found;
  return find_pod(pods, cgroup.uid);
}

const PodFacts* find_pod_by_key(const std::vector<PodFacts>& pods, std::string_view key) {
  auto found = std::ranges::find(pods, key, &PodFacts::key);
  return found == pods.end() ? nullptr : &*found;
}

// The value of an environment variable.
std::optional<std::string> variable(std::string_view environment, std::string_view name) {
  for (std::string_view item : split(environment, '\0')) {
    if (item.size() > name.size() && item.starts_with(name) && item[name.size()] == '=')
      return std::string(item.substr(name.size() + 1));
  }
  return std::nullopt;
}

// Whether the environment of the process names all pools of the container, and the CPUs it holds of
// exclusive pools.
bool fits(const ContainerFacts& container, const PodFacts& pod,
          const std::vector<Holding>& holdings, std::string_view environment) {
  for (const std::string& pool : container.pools) {
    const auto told = variable(environment, pool_variable("PLIMSOLL_CPUS_", bare_name(pool)));
    auto cpus = told ? parse_cpu_list(*told) : Result<CpuSet>(fail(Code::not_found, ""));
    if (!cpus) return false;
    for (const Holding& holding : holdings)
      if (holding.pod == pod.key && holding.container == container.name && holding.pool == pool &&
          !holding.cpus.is_subset_of(*cpus))
        return false;
  }
  return true;
}

// Whether the container is known by its ID. Two containers of a pod may have the same environment.
bool runs(const ContainerFacts& container, const std::vector<ContainerCgroup>& cgroups) {
  return !container.id.empty() && std::ranges::any_of(cgroups, [&](const ContainerCgroup& cgroup) {
    return cgroup.id == container.id;
  });
}

std::optional<CpuSet> told_cpus(const ContainerFacts& container, std::string_view environment) {
  CpuSet out;
  for (const std::string& pool : container.pools) {
    if (variable(environment, pool_variable("PLIMSOLL_SHARED_", bare_name(pool)))) continue;
    const auto told = variable(environment, pool_variable("PLIMSOLL_CPUS_", bare_name(pool)));
    if (!told) continue;
    if (auto cpus = parse_cpu_list(*told)) out |= *cpus;
  }
  if (out.empty())
    if (const auto told = variable(environment, "EXCLUSIVE_CPUS"))
      if (auto cpus = parse_cpu_list(*told)) out = std::move(*cpus);
  if (out.empty()) return std::nullopt;
  return out;
}

}  // namespace

bool PodFacts::uses_pools() const {
  return std::ranges::any_of(containers, [](const auto& item) { return !item.pools.empty(); });
}

PodFacts facts_of(const kube::Pod& pod, const BaseNames& bases) {
  PodFacts out{.key = std::string(pod.meta.ns.view()) + "/" + pod.meta.name,
               .uid = pod.meta.uid,
               .cgroup_uid = uid_on_node(pod)};
  out.ending = pod.meta.deleted.has_value();
  out.ended = pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
  std::map<std::string, const kube::ContainerStatus*, std::less<>> known;
  for (const auto* statuses : {&pod.status.init_containers, &pod.status.containers})
    for (const kube::ContainerStatus& status : *statuses)
      known[std::string(status.name.view())] = &status;
  const bool in_progress =
      std::ranges::any_of(pod.status.conditions, [](const kube::Condition& condition) {
        return condition.type == kResizeInProgress && condition.status == "True";
      });
  for (const auto* containers : {&pod.spec.init_containers, &pod.spec.containers})
    for (const kube::Container& container : *containers) {
      ContainerFacts& added =
          out.containers.emplace_back(ContainerFacts{.name = std::string(container.name.view())});
      added.resources = resources_of(container);
      added.resizing = in_progress;
      if (auto found = known.find(added.name); found != known.end())
        added.id = id_of(found->second->container_id);
      for (const auto& [resource, amount] : container.limits)
        if (std::string pool = bases.pool_of(resource); !pool.empty() && amount != "0")
          added.pools.push_back(std::move(pool));
    }
  return out;
}

std::vector<Holding> holdings_of(const KubeletAnswer& answer, const std::vector<PodFacts>& pods,
                                 const std::vector<ContainerCgroup>& cgroups,
                                 const BaseNames& bases) {
  std::vector<Holding> out;
  const auto lives = [&](const PodFacts* pod, std::string_view uid) {
    if (pod != nullptr && !pod->ended) return true;
    return std::ranges::any_of(cgroups, [&](const ContainerCgroup& cgroup) {
      return cgroup.uid == uid || (pod != nullptr && cgroup.uid == pod->cgroup_uid);
    });
  };
  const auto add = [&](const PodFacts* pod, const node::HeldDevices& held, std::string pool) {
    Holding made{.pod = pod != nullptr     ? pod->key
                        : held.pod.empty() ? std::string()
                                           : held.ns + "/" + held.pod,
                 .uid = pod != nullptr ? pod->cgroup_uid : held.pod_uid,
                 .container = held.container,
                 .pool = std::move(pool)};
    auto same = std::ranges::find_if(out, [&](const Holding& other) {
      return other.pod == made.pod && other.uid == made.uid && other.container == made.container &&
             other.pool == made.pool;
    });
    if (same == out.end()) same = out.insert(out.end(), std::move(made));
    for (const std::string& id : held.ids) {
      if (auto cpu = cpu_of_id(id)) {
        same->cpus.add(*cpu);
      } else {
        ++same->units;
        same->unit_ids.push_back(id);
      }
    }
  };
  for (const node::HeldDevices& held : answer.asked) {
    std::string pool = bases.pool_of(held.resource);
    if (pool.empty()) continue;
    const PodFacts* pod = find_pod_by_key(pods, held.ns + "/" + held.pod);
    // The kubelet may have admitted the pod before the API reported it.
    if (pod == nullptr || lives(pod, pod->cgroup_uid)) add(pod, held, std::move(pool));
  }
  const std::size_t asked = out.size();
  for (const node::HeldDevices& held : answer.stored) {
    std::string pool = bases.pool_of(held.resource);
    const PodFacts* pod = find_pod(pods, held.pod_uid);
    if (pool.empty() || !lives(pod, held.pod_uid)) continue;
    const bool known = std::any_of(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(asked),
                                   [&](const Holding& other) {
                                     return other.uid == (pod ? pod->cgroup_uid : held.pod_uid) &&
                                            other.container == held.container && other.pool == pool;
                                   });
    if (!known) add(pod, held, std::move(pool));
  }
  return out;
}

std::vector<std::string> forgotten_bases(const KubeletAnswer& answer,
                                         const std::vector<PodFacts>& pods,
                                         const std::vector<ContainerCgroup>& cgroups,
                                         const BaseNames& bases,
                                         const ReadEnvironment& read_environment) {
  std::vector<std::string> out;
  for (const node::HeldDevices& held : answer.asked) {
    const auto [base, pool] = cut(held.resource, '/');
    const PodFacts* pod = find_pod_by_key(pods, held.ns + "/" + held.pod);
    if (pod == nullptr || pool.empty() || !bases.pool_of(held.resource).empty()) continue;
    if (std::ranges::find(out, base) != out.end()) continue;
    const std::string ours = pool_variable("PLIMSOLL_CPUS_", pool);
    for (const ContainerCgroup& cgroup : cgroups) {
      if (cgroup.uid != pod->cgroup_uid || !variable(read_environment(cgroup.path), ours)) continue;
      out.emplace_back(base);
      break;
    }
  }
  return out;
}

std::vector<LiveContainer> live_containers(const std::vector<ContainerCgroup>& cgroups,
                                           const std::vector<PodFacts>& pods,
                                           const std::vector<Holding>& holdings,
                                           const ReadCpus& read_cpus,
                                           const ReadEnvironment& read_environment) {
  std::vector<LiveContainer> out;
  for (const ContainerCgroup& cgroup : cgroups) {
    auto cpus = read_cpus(cgroup.path);
    if (!cpus) continue;
    LiveContainer live{.path = cgroup.path, .uid = cgroup.uid, .pod = {}};
    live.actual = std::move(*cpus);
    const PodFacts* pod = find_pod(pods, cgroup);
    if (pod != nullptr) {
      live.pod = pod->key;
      live.ending = pod->ending || pod->ended;
      auto found = std::ranges::find_if(pod->containers, [&](const ContainerFacts& item) {
        return !item.id.empty() && item.id == cgroup.id;
      });
      if (found == pod->containers.end() && pod->uses_pools()) {
        const std::string environment = read_environment(cgroup.path);
        if (!environment.empty())
          found = std::ranges::find_if(pod->containers, [&](const ContainerFacts& item) {
            return !item.pools.empty() && !runs(item, cgroups) &&
                   fits(item, *pod, holdings, environment);
          });
      }
      live.nameless = found == pod->containers.end() && pod->uses_pools();
      if (found != pod->containers.end()) {
        live.container = found->name;
        live.pools = found->pools;
        live.resources = found->resources;
        live.resizing = found->resizing;
        const bool holds = std::ranges::any_of(holdings, [&](const Holding& holding) {
          return holding.pod == pod->key && holding.container == found->name &&
                 !holding.cpus.empty();
        });
        if (!holds && !found->pools.empty())
          live.told = told_cpus(*found, read_environment(cgroup.path));
      }
    }
    out.push_back(std::move(live));
  }
  return out;
}

}  // namespace plim::pools
