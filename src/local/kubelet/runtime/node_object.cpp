#include "local/kubelet/runtime/node_object.hpp"

#include <algorithm>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/quantity.hpp"
#include "base/rfc3339.hpp"
#include "base/text.hpp"
#include "kube/paths.hpp"
#include "kube/reference_version.hpp"

namespace plim::local::kubelet {

namespace {

std::string first_line(const std::string& path) {
  const auto text = read_file(path);
  return text ? std::string(trim(cut(*text, '\n').first)) : std::string();
}

std::string os_name() {
  const auto text = read_file("/etc/os-release");
  if (text)
    for (std::string_view line : split(*text, '\n')) {
      if (!line.starts_with("PRETTY_NAME=")) continue;
      line.remove_prefix(12);
      if (line.size() >= 2 && line.front() == '"') line = line.substr(1, line.size() - 2);
      return std::string(line);
    }
  return "Linux";
}

std::string go_architecture(std::string_view machine) {
  if (machine == "x86_64") return "amd64";
  return machine == "aarch64" ? "arm64" : std::string(machine);
}

struct Condition {
  std::string_view type;
  bool holds;
  std::string reason, message;
};

json::array make_conditions(const std::vector<Condition>& ours, const json::value& before,
                            WallTime now) {
  json::array out;
  const auto find_before = [&](std::string_view type) -> const json::value* {
    for (const json::value& condition : kube::list_at(before, "NodeStatus.conditions"))
      if (kube::text_at(condition, "NodeCondition.type") == type) return &condition;
    return nullptr;
  };
  for (const json::value& condition : kube::list_at(before, "NodeStatus.conditions")) {
    const std::string_view type = kube::text_at(condition, "NodeCondition.type");
    if (std::none_of(ours.begin(), ours.end(), [&](const Condition& c) { return c.type == type; }))
      out.push_back(condition);
  }
  for (const Condition& condition : ours) {
    const json::value* old = find_before(condition.type);
    const std::string_view status = condition.holds ? "True" : "False";
    const bool same = old != nullptr && kube::text_at(*old, "NodeCondition.status") == status;
    out.push_back({{"type", condition.type},
                   {"status", status},
                   {"lastHeartbeatTime", format_rfc3339(now)},
                   {"lastTransitionTime",
                    same ? std::string(kube::text_at(*old, "NodeCondition.lastTransitionTime"))
                         : format_rfc3339(now)},
                   {"reason", condition.reason},
                   {"message", condition.message}});
  }
  return out;
}

json::object amounts(const NodeOptions& options, const NodeFacts& facts, bool allocatable) {
  json::object out{{"cpu", Quantity::from_milli(facts.machine.milli_cpus).to_string()},
                   {"memory", fmt::format("{}Ki", facts.machine.memory_bytes / 1024)},
                   {"ephemeral-storage", fmt::format("{}Ki", facts.machine.storage_bytes / 1024)},
                   {"pods", std::to_string(options.max_pods)}};
  for (const DeviceCount& device : facts.devices)
    out[device.resource] = std::to_string(allocatable ? device.allocatable : device.capacity);
  return out;
}

}  // namespace

MachineFacts look_at_machine(const std::string& state_dir) {
  MachineFacts out;
  out.milli_cpus = 1000 * std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN));
  struct sysinfo memory{};
  if (::sysinfo(&memory) == 0)
    out.memory_bytes = static_cast<std::int64_t>(memory.totalram) * memory.mem_unit;
  struct statvfs disk{};
  if (::statvfs(state_dir.c_str(), &disk) == 0)
    out.storage_bytes = static_cast<std::int64_t>(disk.f_blocks * disk.f_frsize);
  utsname name{};
  if (::uname(&name) == 0) {
    out.architecture = go_architecture(name.machine);
    out.kernel = name.release;
  }
  out.os_image = os_name();
  out.machine_id = first_line("/etc/machine-id");
  out.boot_id = first_line("/proc/sys/kernel/random/boot_id");
  return out;
}

json::value make_node(const NodeOptions& options) {
  utsname name{};
  ::uname(&name);
  const std::string architecture = go_architecture(name.machine);
  json::object labels{{"kubernetes.io/hostname", options.name},
                      {"kubernetes.io/os", "linux"},
                      {"kubernetes.io/arch", architecture},
                      {"node.kubernetes.io/instance-type", "plimsoll"}};
  for (const auto& [key, value] : options.labels) labels[key] = value;
  json::object annotations;
  if (options.shared_host) annotations["plimsoll.io/shared-host"] = "true";
  json::object spec;
  for (const NodeTaint& taint : options.taints) {
    if (!spec.contains("taints")) spec["taints"] = json::array();
    spec["taints"].as_array().push_back({{"key", taint.key}, {"effect", taint.effect}});
  }
  return json::object{{"apiVersion", "v1"},
                      {"kind", "Node"},
                      {"metadata", json::object{{"name", options.name},
                                                {"labels", std::move(labels)},
                                                {"annotations", std::move(annotations)}}},
                      {"spec", std::move(spec)}};
}

json::value make_node_status(const NodeOptions& options, const NodeFacts& facts,
                             const json::value& before, WallTime now) {
  const std::vector<Condition> conditions{
      {"MemoryPressure", false, "KubeletHasSufficientMemory",
       "kubelet has sufficient memory available"},
      {"DiskPressure", false, "KubeletHasNoDiskPressure", "kubelet has no disk pressure"},
      {"PIDPressure", false, "KubeletHasSufficientPID", "kubelet has sufficient PID available"},
      {"CgroupsAvailable", facts.has_cgroups, facts.has_cgroups ? "Delegated" : "NotDelegated",
       facts.has_cgroups ? "pods run in cgroups" : facts.why_no_cgroups},
      {"Ready", true, "KubeletReady", "kubelet is posting ready status"}};
  const MachineFacts& machine = facts.machine;
  const std::string version =
      fmt::format("{}+plimsoll.{}", kube::kReferenceVersion, options.version);
  return json::object{
      {"capacity", amounts(options, facts, false)},
      {"allocatable", amounts(options, facts, true)},
      {"conditions", make_conditions(conditions, before, now)},
      {"addresses", json::array{json::object{{"type", "InternalIP"}, {"address", facts.address}},
                                json::object{{"type", "Hostname"}, {"address", options.name}}}},
      {"daemonEndpoints",
       json::object{{"kubeletEndpoint", json::object{{"Port", options.kubelet_port}}}}},
      {"nodeInfo", json::object{{"machineID", machine.machine_id},
                                {"systemUUID", machine.machine_id},
                                {"bootID", machine.boot_id},
                                {"kernelVersion", machine.kernel},
                                {"osImage", machine.os_image},
                                {"containerRuntimeVersion", "plimsoll://" + options.version},
                                {"kubeletVersion", version},
                                {"kubeProxyVersion", ""},
                                {"operatingSystem", "linux"},
                                {"architecture", machine.architecture}}},
      {"images", images_status(facts.images, options.max_images)}};
}

}  // namespace plim::local::kubelet
