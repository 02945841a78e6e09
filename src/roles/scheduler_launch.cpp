#include "roles/scheduler_launch.hpp"

#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/files.hpp"
#include "base/text.hpp"

namespace plim::roles {
namespace {

constexpr int kSchedulerPort = 10259;
// The rates are those of a scheduler without a file.
constexpr std::string_view kDefaultConfig =
    "# The defaults of the scheduler, until you replace this file. The scheduler reloads it.\n"
    "apiVersion: kubescheduler.config.k8s.io/v1\n"
    "kind: KubeSchedulerConfiguration\n"
    "clientConnection: {qps: 5000, burst: 5000}\n";
constexpr WriteOptions kReadable{.mode = 0644, .sync = false};

// The scheduler reloads a file that changes, but it does not start without one.
Result<void> write_default_config(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return {};
  PLIM_CHECK(make_directories(path.substr(0, path.rfind('/'))));
  return write_file(path, kDefaultConfig, kReadable);
}

}  // namespace

bool is_missing_config(const std::string& path) {
  const auto text = read_file(path);
  return !text || *text == kDefaultConfig;
}

// It is the only scheduler of its cluster, so it needs no leader election, and only the API server
// limits its rate.
Result<RoleLaunch> launch_scheduler(const RolePlace& place) {
  const std::string listen = place.free_address("127.0.0.1", kSchedulerPort);
  const auto [host, port] = cut(listen, ':');
  const std::string keys = place.directories.keys();
  RoleLaunch out{
      .words = {"scheduler", "--kubeconfig", place.kubeconfig, "--leader-elect=false",
                "--bind-address", std::string(host), "--secure-port", std::string(port),
                "--kube-api-qps", "5000", "--kube-api-burst", "5000", "--annotate-decisions",
                // `plimsoll explain` presents the client certificate of the kubeconfig and verifies
                // the scheduler with the cluster's authority.
                "--client-ca-file", keys + "/ca.crt", "--tls-cert-file",
                keys + "/scheduler-server.crt", "--tls-private-key-file",
                keys + "/scheduler-server.key"},
      .url = "https://" + listen};
  const RoleSettings& settings = place.settings;
  if (settings.config_is_on_node) PLIM_CHECK(write_default_config(settings.scheduler_config));
  if (!settings.scheduler_config.empty()) {
    // The file may name the kubeconfig of another cluster. Without a rate it would mean 50 requests
    // per second, which is a limit for clusters that others use too.
    out.words.emplace_back("--config");
    out.words.push_back(settings.scheduler_config);
    out.words.emplace_back("--kubeconfig-wins");
    out.words.emplace_back("--kube-api-fallback");
  }
  if (settings.scheduler_v) {
    out.words.emplace_back("--v");
    out.words.push_back(std::to_string(*settings.scheduler_v));
  }
  return out;
}

}  // namespace plim::roles
