#include "placement/image_history.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace plim::placement {
namespace {

std::string history_key(const kube::Pod& pod, std::string_view image) {
  const auto owner = std::ranges::find_if(pod.meta.owners, &kube::Owner::controller);
  return owner == pod.meta.owners.end() ? "" : fmt::format("{} {}", owner->uid, image);
}

// Removes the scheme that old runtimes write: "docker-pullable://app@sha256:…".
std::string_view without_scheme(std::string_view image_id) {
  const auto at = image_id.find("://");
  return at == std::string_view::npos ? image_id : image_id.substr(at + 3);
}

}  // namespace

void ImageHistory::note(const kube::Pod& pod) {
  auto look = [&](const std::vector<kube::Container>& containers,
                  const std::vector<kube::ContainerStatus>& statuses) {
    for (const kube::ContainerStatus& status : statuses) {
      if (status.image_id.empty()) continue;
      const auto container = std::ranges::find_if(
          containers, [&](const auto& one) { return one.name == status.name; });
      if (container == containers.end()) continue;
      std::string key = history_key(pod, container->image);
      ImageKeys keys = image_keys(without_scheme(status.image_id));
      if (key.empty() || keys.empty()) continue;
      const auto [at, is_new] = known_.insert_or_assign(key, std::move(keys));
      if (is_new) order_.push_back(std::move(key));
    }
  };
  look(pod.spec.init_containers, pod.status.init_containers);
  look(pod.spec.containers, pod.status.containers);
  for (; order_.size() > kMost; order_.pop_front()) known_.erase(order_.front());
}

const ImageKeys& ImageHistory::find(const kube::Pod& pod, std::string_view image) const {
  static const ImageKeys kUnknown;
  if (known_.empty()) return kUnknown;
  const auto at = known_.find(history_key(pod, image));
  return at == known_.end() ? kUnknown : at->second;
}

}  // namespace plim::placement
