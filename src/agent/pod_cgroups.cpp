#include "agent/pod_cgroups.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace plim::agent {
namespace {

using node::CgroupDriver;
using node::Qos;

constexpr std::array<CgroupDriver, 2> kDrivers{CgroupDriver::cgroupfs, CgroupDriver::systemd};
constexpr std::array<Qos, 3> kQos{Qos::guaranteed, Qos::burstable, Qos::best_effort};

std::string trimmed_root(std::string root) {
  while (root.ends_with('/')) root.pop_back();
  if (!root.empty() && !root.starts_with('/')) root.insert(0, "/");
  return root;
}

}  // namespace

PodCgroups::PodCgroups(const node::CgroupMounts& mounts, std::optional<CgroupDriver> driver,
                       std::optional<std::string> root)
    : mounts_(mounts), driver_(driver) {
  if (root)
    roots_ = {trimmed_root(*root)};
  else
    roots_ = {"", "/kubelet"};
}

std::optional<PodCgroups::Known> PodCgroups::locate(const PodFacts& pod) const {
  for (const std::string& uid : pod.uid_candidates)
    for (const std::string& root : roots_)
      for (CgroupDriver driver : kDrivers) {
        if (driver_ && *driver_ != driver) continue;
        for (std::string& path : node::pod_cgroup_paths(driver, root, pod.qos, uid))
          if (mounts_.exists(path)) return Known{.path = std::move(path), .driver = driver};
      }
  return std::nullopt;
}

// "" if the container has no cgroup.
std::string PodCgroups::container_path(const Known& pod, const PodContainer& container) const {
  for (const std::string& name :
       node::container_cgroup_names(pod.driver, container.runtime, container.id))
    if (std::string path = fmt::format("{}/{}", pod.path, name); mounts_.exists(path)) return path;
  return {};
}

std::optional<PodCgroup> PodCgroups::find(const PodFacts& pod) {
  auto known = known_.find(pod.uid);
  if (known != known_.end() && !mounts_.exists(known->second.path)) {
    known_.erase(known);
    known = known_.end();
  }
  if (known == known_.end()) {
    auto found = locate(pod);
    if (!found) return std::nullopt;
    known = known_.emplace(pod.uid, std::move(*found)).first;
  }
  known->second.used = true;
  PodCgroup out{.path = known->second.path};
  for (const PodContainer& container : pod.containers)
    if (std::string path = container_path(known->second, container); !path.empty())
      out.containers.push_back({.id = container.id, .name = container.name, .path = path});
  if (out.containers.empty()) return std::nullopt;
  return out;
}

void PodCgroups::sweep() {
  std::erase_if(known_, [](const auto& entry) { return !entry.second.used; });
  for (auto& [uid, known] : known_) known.used = false;
}

std::vector<std::string> PodCgroups::watched() const {
  std::vector<std::string> out;
  for (const std::string& root : roots_)
    for (CgroupDriver driver : kDrivers)
      for (Qos qos : kQos) {
        // The path of a pod without its last part.
        for (std::string path : node::pod_cgroup_paths(driver, root, qos, "x")) {
          path.resize(path.rfind('/'));
          out.push_back(mounts_.memory.directory + path);
        }
      }
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

}  // namespace plim::agent
