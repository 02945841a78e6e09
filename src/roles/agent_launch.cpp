#include "roles/agent_launch.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/yaml.hpp"
#include "local/cluster/keys.hpp"

namespace plim::roles {
namespace {

constexpr int kPort = 9101;
// ConfigMaps that a DaemonSet would mount.
constexpr const char* kPoolMaps =
    ",configmap:kube-system/cpu-dp-configmap,configmap:kube-system/cpu-pooler-configmap";
constexpr std::int64_t kKubeletPort = 10250;
constexpr WriteOptions kPrivate{.mode = 0600, .sync = false};

std::string quoted(const std::string& text) {
  std::string out = to_yaml(json::value(json::string(text)));
  out.pop_back();
  return out;
}

// Writes the node certificate that the agent presents to the kubelet. The authority that signs it
// also signs the kubelet's.
Result<void> write_certificate(const RolePlace& place, const std::string& node,
                               const std::string& address, const std::string& base) {
  net::KeyPair authority;
  PLIM_TRY(authority.certificate_pem, read_file(place.directories.keys() + "/ca.crt"));
  PLIM_TRY(authority.key_pem, read_file(place.directories.keys() + "/ca.key"));
  PLIM_TRY(net::KeyPair made,
           local::cluster::make_node_certificate(authority, node, address, system_clock().wall()));
  PLIM_CHECK(write_file(base + ".crt", made.certificate_pem, kPrivate));
  return write_file(base + ".key", made.key_pem, kPrivate);
}

// Writes the file of the module measure; at each start, because the address may have changed.
Result<std::string> write_config(const RolePlace& place, const std::string& root,
                                 const std::string& listen) {
  const std::string node(text_at(place.node, {"name"}));
  const std::string address(text_at(place.node, {"address"}));
  const std::string base = fmt::format("{}/agent-{}", place.directory, node);
  PLIM_CHECK(write_certificate(place, node, address, base));
  const std::string config = fmt::format(
      "runner: !MeasurementRunner\n"
      "  interval: 1\n"
      "  extra_labels: {{node: {}}}\n"
      "  node: !KubernetesNode\n"
      "    kubelet_endpoint: https://{}:{}\n"
      "    monitored_namespaces: [\"*\"]\n"
      "    cgroup_root: {}\n"
      "    ssl: !SSL\n"
      "      server_verify: {}\n"
      "      client_cert_path: {}\n"
      "      client_key_path: {}\n"
      "  metrics_storage: !PrometheusEndpoint\n"
      "    listen: {}\n",
      quoted(node), address, int_at(place.node, {"kubeletPort"}).value_or(kKubeletPort),
      quoted(root), quoted(place.directories.keys() + "/ca.crt"), quoted(base + ".crt"),
      quoted(base + ".key"), quoted(listen));
  PLIM_CHECK(write_file(base + ".yaml", config, kPrivate));
  return base + ".yaml";
}

}  // namespace

Result<std::string> pool_places_of(const RolePlace& place) {
  const std::string directory = place.directories.state + "/pools";
  PLIM_CHECK(make_directories(directory, 0700));
  for (const char* variable :
       {"PLIMSOLL_AGENT_RUN_POOLCONFIGS", "PLIMSOLL_POOLS_AGENT_POOLCONFIGS"})
    if (const char* set = std::getenv(variable); set != nullptr && *set != '\0')
      return std::string(set);
  return directory + kPoolMaps;
}

Result<RoleLaunch> launch_agent(const RolePlace& place) {
  const std::string node(text_at(place.node, {"name"}));
  const std::string root(text_at(place.node, {"cgroups"}));
  const bool has_cgroups = root.starts_with('/');
  const auto wanted = [&](std::string_view part) {
    return std::ranges::find(place.parts, part) != place.parts.end();
  };
  if (!has_cgroups && place.parts == std::vector<std::string>{"agent"})
    return fail(Code::unavailable, fmt::format("node {} has no cgroups to measure", node));
  const std::string listen =
      place.free_address(std::string(text_at(place.node, {"address"})), kPort);
  const std::string kubelet = place.directories.node(node);
  RoleLaunch out{.words = {"agent", "run", "--kubeconfig", place.kubeconfig, "--node-name", node,
                           "--run-dir", kubelet, "--metrics-listen", listen},
                 .url = "http://" + listen};
  const auto add = [&](std::initializer_list<std::string> words) {
    out.words.insert(out.words.end(), words);
  };
  if (wanted("agent") && has_cgroups) {
    PLIM_TRY(std::string config, write_config(place, root, listen));
    add({"--root", "--config", std::move(config)});
  } else if (wanted("agent")) {
    out.missing = {"agent"};
  }
  if (wanted("images")) add({"--images", "--cri-endpoint", place.directories.runtime_socket(node)});
  if (wanted("pools")) {
    PLIM_TRY(std::string places, pool_places_of(place));
    add({"--poolconfigs", std::move(places), "--kubelet-dir", kubelet, "--node-report"});
    if (has_cgroups)
      add({"--cgroup-root", root});
    else
      add({"--parts", "plugin"});  // pods run without cgroups here
  }
  return out;
}

}  // namespace plim::roles
