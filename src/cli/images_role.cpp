#include "cli/images_role.hpp"

namespace plim::cli {
namespace {

constexpr int kImagesPort = 9101;  // or the next free one: the agent may have it

}  // namespace

Result<RoleLaunch> launch_images(const RolePlace& place) {
  const std::string node(text_at(place.node, {"name"}));
  const std::string listen =
      place.free_address(std::string(text_at(place.node, {"address"})), kImagesPort);
  const std::string kubelet = place.directories.node(node);
  return RoleLaunch{.words = {"agent", "run", "--images", "--kubeconfig", place.kubeconfig,
                              "--node-name", node, "--cri-endpoint", kubelet + "/cri.sock",
                              "--run-dir", kubelet, "--metrics-listen", listen},
                    .url = "http://" + listen};
}

}  // namespace plim::cli
