#include "local/kubelet/runtime/launch.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <sys/resource.h>
#include <sys/stat.h>
#include <utility>

#include <fmt/format.h>

#include "kube/object.hpp"
#include "kube/paths.hpp"
#include "local/kubelet/runtime/applets.hpp"
#include "local/kubelet/shim/shim_spawn.hpp"

namespace plim::local::kubelet {

namespace {

constexpr std::string_view kToolsImage = "docker.io/plimsoll/tools";
constexpr std::string_view kOwnImage = "docker.io/library/plimsoll";
constexpr std::string_view kUsualPath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

bool is_image(const images::Image& image, std::string_view repository) {
  return image.name.starts_with(repository) &&
         (image.name.size() == repository.size() || image.name[repository.size()] == ':' ||
          image.name[repository.size()] == '@');
}

// A container's own setting, or that of its pod.
const json::value* find_in_either(const Launch& launch, kube::AnyPath container,
                                  kube::AnyPath pod) {
  if (const json::value* own = kube::find(launch.container, container)) return own;
  return kube::find(launch.pod, pod);
}

const json::value* find_user(const Launch& launch) {
  return find_in_either(launch, "Container.securityContext.runAsUser",
                        "Pod.spec.securityContext.runAsUser");
}

const json::value* find_group(const Launch& launch) {
  return find_in_either(launch, "Container.securityContext.runAsGroup",
                        "Pod.spec.securityContext.runAsGroup");
}

const json::value* find_non_root(const Launch& launch) {
  return find_in_either(launch, "Container.securityContext.runAsNonRoot",
                        "Pod.spec.securityContext.runAsNonRoot");
}

std::optional<std::int64_t> number(const json::value* value) {
  if (value == nullptr || !value->is_int64()) return std::nullopt;
  return value->as_int64();
}

bool is_true(const json::value* value) {
  return value != nullptr && value->is_bool() && value->as_bool();
}

std::uint64_t kept_capabilities(const json::value& container) {
  std::uint64_t out = default_capabilities();
  const json::value* wanted = kube::find(container, "Container.securityContext.capabilities");
  if (wanted == nullptr) return out;
  for (const std::string& name : kube::texts_at(*wanted, "Capabilities.drop"))
    if (name == "ALL") {
      out = 0;
    } else if (const int bit = capability_number(name); bit >= 0) {
      out &= ~(std::uint64_t{1} << bit);
    }
  for (const std::string& name : kube::texts_at(*wanted, "Capabilities.add"))
    if (name == "ALL") {
      out = ~std::uint64_t{0} >> 1;
    } else if (const int bit = capability_number(name); bit >= 0) {
      out |= std::uint64_t{1} << bit;
    }
  return out;
}

std::string hostname_of(const json::value& pod) {
  const std::string_view given = kube::text_at(pod, "Pod.spec.hostname");
  return std::string((given.empty() ? kube::name_of(pod) : given).substr(0, 63));
}

// Images without a root file system may name directories that do not exist on this machine.
std::string usual_home(const VolumeRoots& roots) {
  return roots.pod + "/work";
}

std::string working_directory(const Launch& launch) {
  std::string wanted(kube::text_at(launch.container, "Container.workingDir"));
  if (wanted.empty()) wanted = launch.image->working_dir;
  if (!launch.image->rootfs.empty()) return wanted.empty() ? "/" : wanted;
  struct stat info{};
  bool mounted = false;
  for (const json::value& mount : kube::list_at(launch.container, "Container.volumeMounts"))
    mounted |= launch.isolated && wanted.starts_with(kube::text_at(mount, "VolumeMount.mountPath"));
  if (!wanted.empty() && (mounted || ::stat(wanted.c_str(), &info) == 0)) return wanted;
  return usual_home(launch.roots);
}

// These users cannot read the cluster's directory. Their home is /, as container runtimes do for
// a user that the image does not know.
bool runs_as_other(const Launch& launch) {
  return number(find_user(launch)).value_or(0) != 0;
}

void isolate(const Launch& launch, StartSpec& out) {
  const bool privileged = kube::bool_at(launch.container, "Container.securityContext.privileged");
  const bool host_processes = kube::bool_at(launch.pod, "Pod.spec.hostPID") ||
                              kube::bool_at(launch.pod, "Pod.spec.hostIPC");
  out.own_mounts = true;
  out.own_processes = !privileged && !host_processes;
  out.own_devices = !privileged;
  out.hostname = hostname_of(launch.pod);
  out.rootfs = launch.image->rootfs;
  if (auto user = number(find_user(launch))) out.uid = static_cast<uid_t>(*user);
  if (auto group = number(find_group(launch))) out.gid = static_cast<gid_t>(*group);
  if (out.uid && !out.gid) out.gid = 0;
  for (const json::value& group :
       kube::list_at(launch.pod, "Pod.spec.securityContext.supplementalGroups"))
    if (auto gid = number(&group)) out.groups.push_back(static_cast<gid_t>(*gid));
  if (auto group = number(kube::find(launch.pod, "Pod.spec.securityContext.fsGroup")))
    out.groups.push_back(static_cast<gid_t>(*group));
  if (privileged) return;
  out.no_new_privileges = true;
  out.capabilities = kept_capabilities(launch.container);
}

// Includes the variables of device plugins: a kubelet expands commands with them too.
Environment granted_environment(const Launch& launch) {
  Environment out = launch.environment;
  for (const auto& [name, value] : launch.grants.env) out.set(name, value);
  return out;
}

// Without mounts, crictl finds the runtime that the pod mounts by this variable.
void show_runtime_socket(const Launch& launch, Environment& environment) {
  for (const json::value& volume : kube::list_at(launch.pod, "Pod.spec.volumes")) {
    const std::string_view wanted = kube::text_at(volume, "Volume.hostPath.path");
    const std::string path = host_path(wanted, launch.roots);
    if (path != wanted && path.ends_with("/containerd.sock") &&
        environment.get("CONTAINER_RUNTIME_ENDPOINT") == nullptr)
      environment.set("CONTAINER_RUNTIME_ENDPOINT", "unix://" + path);
  }
}

}  // namespace

std::vector<std::string> container_command(const Launch& launch) {
  const images::Image& image = *launch.image;
  const bool tools = is_image(image, kToolsImage), own = is_image(image, kOwnImage);
  std::vector<std::string> words = kube::texts_at(launch.container, "Container.command");
  const std::vector<std::string> args = kube::texts_at(launch.container, "Container.args");
  const bool replaced = !words.empty();
  if (!replaced && tools) {
    words = {launch.program, "tools"};
  } else if (!replaced && own) {
    words = {launch.program};
  } else if (!replaced) {
    words = image.entrypoint;
  } else if (tools && is_applet(words[0])) {
    words.insert(words.begin(), {launch.program, "tools"});
  } else if ((tools || own) && words[0] == "plimsoll") {
    words[0] = launch.program;
  }
  const std::vector<std::string>& rest = args.empty() && !replaced ? image.command : args;
  words.insert(words.end(), rest.begin(), rest.end());
  if (words.empty()) words = {launch.program, "tools", "sleep", "infinity"};
  if (tools && words.size() == 2 && !replaced) words.insert(words.end(), {"sleep", "infinity"});
  const Environment environment = granted_environment(launch);
  for (std::string& word : words) word = expand(word, environment);
  return words;
}

std::string own_programs(const VolumeRoots& roots) {
  return roots.host + "/usr/local/bin";
}

Environment base_environment(const json::value& pod, const images::Image& image,
                             const PodPlace& place, const VolumeRoots& roots) {
  Environment out;
  const char* machines = std::getenv("PATH");
  std::string path =
      machines != nullptr && image.rootfs.empty() ? machines : std::string(kUsualPath);
  // Programs of the machine take precedence.
  if (image.rootfs.empty() && !roots.host.empty()) path += ":" + own_programs(roots);
  out.set("PATH", std::move(path));
  out.set("HOME", usual_home(roots));
  out.set("HOSTNAME", hostname_of(pod));
  out.set("POD_IP", place.pod_ip);
  out.set("PLIMSOLL_VOLUMES", roots.pod + "/volumes");
  for (const auto& [name, value] : image.env) out.set(name, value);
  return out;
}

Result<StartSpec> make_start_spec(const Launch& launch) {
  StartSpec out;
  out.id = launch.id;
  out.name = kube::text_at(launch.container, "Container.name");
  out.tag = json::object{
      {"restart", launch.restart},
      {"image", launch.image->name},
      {"imageID", fmt::format("{}@{}", launch.image->name.substr(0, launch.image->name.rfind(':')),
                              launch.image->digest)},
      {"stopSignal", launch.image->stop_signal}};
  out.argv = container_command(launch);
  Environment environment = granted_environment(launch);
  if (!launch.isolated) {
    environment.set("PLIMSOLL_TERMINATION_LOG", launch.termination_log);
    show_runtime_socket(launch, environment);
  }
  const std::string* home = environment.get("HOME");
  if (launch.isolated && runs_as_other(launch) && home && *home == usual_home(launch.roots))
    environment.set("HOME", "/");
  for (const auto& [name, value] : environment.entries()) out.env.push_back(name + "=" + value);
  out.cwd = working_directory(launch);
  out.log = launch.log;
  out.cgroup = launch.cgroup;
  out.rlimits = {{RLIMIT_CORE, 0, 0}};
  if (is_true(find_non_root(launch)) && !runs_as_other(launch))
    return fail(Code::invalid, "container has runAsNonRoot and image will run as root");
  if (!launch.isolated) return out;
  isolate(launch, out);
  PLIM_TRY(out.mounts, container_mounts(launch.pod, launch.container, launch.roots, environment));
  for (const DeviceMount& mount : launch.grants.mounts)
    out.mounts.push_back(
        {host_path(mount.host_path, launch.roots), mount.container_path, mount.read_only});
  for (const DeviceFile& device : launch.grants.devices)
    out.mounts.push_back({device.host_path, device.container_path, false});
  std::string last_words(kube::text_at(launch.container, "Container.terminationMessagePath"));
  if (last_words.empty()) last_words = "/dev/termination-log";
  if (out.own_devices) out.mounts.push_back({launch.termination_log, last_words, false});
  return out;
}

}  // namespace plim::local::kubelet
