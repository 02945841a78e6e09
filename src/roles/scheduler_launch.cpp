#include "roles/scheduler_launch.hpp"

#include "base/text.hpp"

namespace plim::roles {
namespace {

constexpr int kSchedulerPort = 10259;

}  // namespace

// It is the only scheduler of its cluster, so it needs no leader election, and only the API server
// limits its rate.
Result<RoleLaunch> launch_scheduler(const RolePlace& place) {
  const std::string listen = place.free_address("127.0.0.1", kSchedulerPort);
  const auto [host, port] = cut(listen, ':');
  RoleLaunch out{
      .words = {"scheduler", "--kubeconfig", place.kubeconfig, "--leader-elect=false",
                "--bind-address", std::string(host), "--secure-port", std::string(port),
                "--kube-api-qps", "5000", "--kube-api-burst", "5000", "--annotate-decisions",
                // `plimsoll explain` presents the client certificate of the kubeconfig.
                "--client-ca-file", place.directories.keys() + "/ca.crt"},
      .url = "https://" + listen};
  const RoleSettings& settings = place.settings;
  if (!settings.scheduler_config.empty()) {
    // The file may name the kubeconfig of another cluster.
    out.words.emplace_back("--config");
    out.words.push_back(settings.scheduler_config);
    out.words.emplace_back("--kubeconfig-wins");
  }
  if (settings.scheduler_v) {
    out.words.emplace_back("--v");
    out.words.push_back(std::to_string(*settings.scheduler_v));
  }
  return out;
}

}  // namespace plim::roles
