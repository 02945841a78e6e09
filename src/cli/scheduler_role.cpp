#include "cli/scheduler_role.hpp"

#include "base/text.hpp"

namespace plim::cli {
namespace {

constexpr int kSchedulerPort = 10259;

}  // namespace

// Alone in its cluster, so without an election; nothing holds it back but the API server.
Result<RoleLaunch> launch_scheduler(const RolePlace& place) {
  const std::string listen = place.free_address("127.0.0.1", kSchedulerPort);
  const auto [host, port] = cut(listen, ':');
  return RoleLaunch{
      .words = {"scheduler", "--kubeconfig", place.kubeconfig, "--leader-elect=false",
                "--bind-address", std::string(host), "--secure-port", std::string(port),
                "--kube-api-qps", "5000", "--kube-api-burst", "5000", "--annotate-decisions",
                // For `plimsoll explain`, which shows the certificate of the kubeconfig.
                "--client-ca-file", place.directories.keys() + "/ca.crt"},
      .url = "https://" + listen};
}

}  // namespace plim::cli
