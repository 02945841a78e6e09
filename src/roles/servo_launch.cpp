#include "roles/servo_launch.hpp"

#include <cstdlib>

namespace plim::roles {
namespace {

constexpr int kServoPort = 8080;

}  // namespace

// It also inherits OPTUNE_* from the environment of the cluster's process.
Result<RoleLaunch> launch_servo(const RolePlace& place) {
  const std::string listen = place.free_address("127.0.0.1", kServoPort);
  RoleLaunch out{.words = {"servo", "--kubeconfig", place.kubeconfig, "--listen", listen, "--store",
                           place.directories.state + "/servo"},
                 .url = "http://" + listen};
  const auto unless_set = [&](const char* variable, std::string flag, std::string value) {
    const char* set = std::getenv(variable);
    if (set != nullptr && *set != '\0') return;
    out.words.push_back(std::move(flag));
    out.words.push_back(std::move(value));
  };
  unless_set("POD_NAMESPACES", "--pod-namespaces", "*");
  unless_set("OPTUNE_APP_ID", "--optune-app-id", kLocalAppId);
  return out;
}

}  // namespace plim::roles
