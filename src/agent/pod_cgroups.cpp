#include "agent/pod_cgroups.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.hpp"

namespace plim::agent {
namespace {

using node::CgroupDriver;
using node::Qos;

constexpr std::array<CgroupDriver, 2> kDrivers{CgroupDriver::cgroupfs, CgroupDriver::systemd};
constexpr std::array<Qos, 3> kQos{Qos::guaranteed, Qos::burstable, Qos::best_effort};

// "/a/b" as slices: "/a.slice/a-b.slice", and the prefix "a-b-" of those below.
std::pair<std::string, std::string> slices_of(const std::string& root) {
  std::string path, prefix;
  for (std::string_view part : split(root, '/')) {
    if (part.empty()) continue;
    prefix += std::string(part);
    path += fmt::format("/{}.slice", prefix);
    prefix += '-';
  }
  return {path, prefix};
}

std::string with_prefix(const std::string& path, const std::string& prefix) {
  std::string out;
  for (std::string_view part : split(path, '/'))
    if (!part.empty()) out += fmt::format("/{}{}", prefix, part);
  return out;
}

std::array<std::string_view, 3> prefixes_of(std::string_view runtime) {
  if (runtime == "docker") return {"docker", "cri-containerd", "crio"};
  if (runtime == "cri-o") return {"crio", "cri-containerd", "docker"};
  return {"cri-containerd", "crio", "docker"};
}

std::string trimmed_root(std::string root) {
  while (root.ends_with('/')) root.pop_back();
  if (!root.empty() && !root.starts_with('/')) root.insert(0, "/");
  return root;
}

// What some versions of the ancestor looked for; no kubelet makes it.
std::string odd_guaranteed(const std::string& uid) {
  std::string escaped(uid);
  std::ranges::replace(escaped, '-', '_');
  return fmt::format("/kubepods.slice/kubepods-guaranteed.slice/kubepods-guaranteed-pod{}.slice",
                     escaped);
}

}  // namespace

std::vector<std::string> pod_paths(CgroupDriver driver, const std::string& root, Qos qos,
                                   const std::string& uid) {
  const std::string plain = "/" + node::pod_cgroup(driver, qos, uid);
  if (driver == CgroupDriver::cgroupfs) return {root + plain};
  std::vector<std::string> out;
  if (!root.empty()) {
    auto [slices, prefix] = slices_of(root);
    out.push_back(slices + with_prefix(plain, prefix));
  }
  out.push_back(root + plain);
  if (qos == Qos::guaranteed) out.push_back(root + odd_guaranteed(uid));
  return out;
}

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
        for (std::string& path : pod_paths(driver, root, pod.qos, uid))
          if (mounts_.exists(path)) return Known{.path = std::move(path), .driver = driver};
      }
  return std::nullopt;
}

// "" when the container has none.
std::string PodCgroups::container_path(const Known& pod, const PodContainer& container) const {
  std::vector<std::string> names;
  if (pod.driver == CgroupDriver::cgroupfs) names.push_back(container.id);
  for (std::string_view prefix : prefixes_of(container.runtime))
    names.push_back(node::container_cgroup(CgroupDriver::systemd, container.id, prefix));
  if (pod.driver == CgroupDriver::systemd) names.push_back(container.id);
  for (const std::string& name : names)
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
        // A pod's path without the pod.
        for (std::string path : pod_paths(driver, root, qos, "x")) {
          path.resize(path.rfind('/'));
          out.push_back(mounts_.memory.directory + path);
        }
      }
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

}  // namespace plim::agent
