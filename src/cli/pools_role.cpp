#include "cli/pools_role.hpp"

#include <cstdlib>

#include "base/files.hpp"

namespace plim::cli {
namespace {

// Where a DaemonSet would have them mounted.
constexpr const char* kConfigMaps =
    ",configmap:kube-system/cpu-dp-configmap,configmap:kube-system/cpu-pooler-configmap";
constexpr int kPoolsPort = 9101;  // or the next free one: the agent may have it

}  // namespace

// The ConfigMaps of a real cluster are taken as well. Files put into `pools` of the state directory
// are taken at once; until then nothing is advertised.
Result<RoleLaunch> launch_pools(const RolePlace& place) {
  const std::string node(text_at(place.node, {"name"}));
  const std::string root(text_at(place.node, {"cgroups"}));
  const std::string listen =
      place.free_address(std::string(text_at(place.node, {"address"})), kPoolsPort);
  const std::string kubelet = place.directories.node(node);
  RoleLaunch out{.words = {"pools", "agent", "--kubeconfig", place.kubeconfig, "--node-name", node,
                           "--kubelet-dir", kubelet, "--run-dir", kubelet, "--metrics-listen",
                           listen, "--node-report"},
                 .url = "http://" + listen};
  const auto add = [&](std::string flag, std::string value) {
    out.words.push_back(std::move(flag));
    out.words.push_back(std::move(value));
  };
  if (root.starts_with('/'))
    add("--cgroup-root", root);
  else
    add("--parts", "plugin");  // pods run without cgroups here
  const char* set = std::getenv("PLIMSOLL_POOLS_AGENT_POOLCONFIGS");
  if (set == nullptr || *set == '\0') {
    const std::string directory = place.directories.state + "/pools";
    PLIM_CHECK(make_directories(directory, 0700));
    add("--poolconfigs", directory + kConfigMaps);
  }
  return out;
}

}  // namespace plim::cli
