// The kubelet and the container runtime of this node.
#include <array>

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/yaml.hpp"
#include "cli/doctor/kubelet_config.hpp"
#include "cli/doctor/probes.hpp"

namespace plim::cli::doctor {
namespace {

// The paths used by kubeadm, by the k3s agent and in Debian's documentation.
constexpr std::array<std::string_view, 3> kConfigFiles{
    "/var/lib/kubelet/config.yaml", "/etc/kubernetes/kubelet-config.yaml",
    "/etc/kubernetes/kubelet/kubelet-config.json"};

constexpr std::array<std::string_view, 3> kRuntimeSockets{
    "/run/containerd/containerd.sock", "/run/crio/crio.sock", "/var/run/cri-dockerd.sock"};

}  // namespace

KubeletConfig read_kubelet_config(const Host& host) {
  KubeletConfig out;
  for (std::string_view file : kConfigFiles) {
    auto text = host.read(file);
    if (!text) continue;
    out.file = file;
    auto config = parse_yaml(*text, file);
    if (!config) {
      out.mistake = config.error().message;
      break;
    }
    out.cgroup_driver = text_at(*config, {"cgroupDriver"});
    out.cpu_manager_policy = text_at(*config, {"cpuManagerPolicy"});
    break;
  }
  // The state file has the policy in use, which may differ from flags and files.
  if (auto state = host.read("/var/lib/kubelet/cpu_manager_state"))
    if (auto parsed = parse_json(*state); parsed && !text_at(*parsed, {"policyName"}).empty())
      out.cpu_manager_policy = text_at(*parsed, {"policyName"});
  return out;
}

Finding probe_kubelet(const Host& host) {
  if (!host.exists("/var/lib/kubelet"))
    return {.status = Status::absent,
            .found = "no /var/lib/kubelet",
            .effect = "this machine is not a Kubernetes node; all commands work"};
  KubeletConfig config = read_kubelet_config(host);
  if (!config.mistake.empty())
    return {.status = Status::failed,
            .found = config.mistake,
            .effect = "the kubelet does not start with this file",
            .remedy = "correct the file"};
  std::string policy = config.cpu_manager_policy.empty() ? "none" : config.cpu_manager_policy;
  Finding out{.found = fmt::format("CPU manager policy {}", policy)};
  bool devices = host.exists("/var/lib/kubelet/device-plugins");
  if (!host.exists("/var/lib/kubelet/device-plugins/kubelet.sock"))
    out.found += devices ? ", not running" : ", no device-plugins folder";
  if (policy == "static") {
    out.status = Status::degraded;
    out.effect = "CPU pools stay off here: the kubelet's static policy assigns CPUs too";
    out.remedy = "set cpuManagerPolicy: none, remove cpu_manager_state and restart the kubelet";
  }
  return out;
}

Finding probe_runtime(const Host& host) {
  std::string found;
  for (std::string_view socket : kRuntimeSockets) {
    if (!host.is_socket(socket)) continue;
    found += fmt::format("{}{}{}", found.empty() ? "" : ", ", socket,
                         host.is_writable(socket) ? "" : " (no permission)");
  }
  if (found.empty())
    return {.status = Status::absent,
            .found = "no socket of containerd, CRI-O or cri-dockerd",
            .effect = "the scheduler does not know the images of this machine"};
  if (found.find("(no permission)") == found.npos) return {.found = std::move(found)};
  return {.status = Status::degraded,
          .found = std::move(found),
          .effect = "this user cannot list the images of this machine",
          .remedy = "run as root, or join the group that owns the socket"};
}

}  // namespace plim::cli::doctor
