#include "cli/agent_role.hpp"

#include <chrono>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/yaml.hpp"
#include "local/cluster/keys.hpp"

namespace plim::cli {
namespace {

constexpr int kPort = 9101;
constexpr std::int64_t kKubeletPort = 10250;
constexpr WriteOptions kPrivate{.mode = 0600, .sync = false};

std::string quoted(const std::string& text) {
  std::string out = to_yaml(json::value(json::string(text)));
  out.pop_back();
  return out;
}

// The agent shows the kubelet the certificate of its node, and is shown one of the same authority.
Result<void> write_certificate(const RolePlace& place, const std::string& node,
                               const std::string& address, const std::string& base) {
  net::KeyPair authority;
  PLIM_TRY(authority.certificate_pem, read_file(place.directories.keys() + "/ca.crt"));
  PLIM_TRY(authority.key_pem, read_file(place.directories.keys() + "/ca.key"));
  PLIM_TRY(net::KeyPair made,
           local::make_node_certificate(authority, node, address, system_clock().wall()));
  PLIM_CHECK(write_file(base + ".crt", made.certificate_pem, kPrivate));
  return write_file(base + ".key", made.key_pem, kPrivate);
}

}  // namespace

Result<RoleLaunch> launch_agent(const RolePlace& place) {
  const std::string node(text_at(place.node, {"name"}));
  const std::string address(text_at(place.node, {"address"}));
  const std::string root(text_at(place.node, {"cgroups"}));
  if (!root.starts_with('/'))
    return fail(Code::unavailable, fmt::format("node {} has no cgroups to measure", node));
  const std::string base = fmt::format("{}/agent-{}", place.directory, node);
  PLIM_CHECK(write_certificate(place, node, address, base));
  const std::string listen = place.free_address(address, kPort);
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
  return RoleLaunch{
      .words = {"agent", "run", "--root", "--config", base + ".yaml", "--node-name", node},
      .url = "http://" + listen};
}

}  // namespace plim::cli
