// NodeDeclaredFeatures: whether a node declares the features that a pod needs.
#include "placement/declared_features.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "placement/plugins.hpp"

namespace plim::placement {
namespace {

// Nodes share few sets of features, so the pod is compared with each set once.
class DeclaredFeaturesFilter final : public FilterOf<DeclaredFeaturesFilter> {
 public:
  DeclaredFeaturesFilter(Cycle& cycle, std::vector<std::string_view> needed)
      : features_(cycle.cluster.table().features()),
        refused_(cycle.verdicts.id_of(PluginId::NodeDeclaredFeatures, RejectCode::unresolvable,
                                      "node(s) didn't match Pod's required features")) {
    for (const std::vector<kube::Interned>& declared : features_.sets())
      fits_.push_back(declares_all(declared, needed));
  }

  Verdict judge(NodeIndex row) const { return fits_[features_.set_of(row)] ? kFits : refused_; }

 private:
  const NodeFeatures& features_;
  std::vector<bool> fits_;  // by set
  Verdict refused_;
};

}  // namespace

std::vector<std::string_view> needed_features(const kube::PodSpec& spec) {
  std::vector<std::string_view> out;
  if (spec.restarts_all_containers) out.emplace_back("RestartAllContainersOnContainerExits");
  if (spec.host_network && !spec.host_users) out.emplace_back("UserNamespacesHostNetworkSupport");
  if (spec.bind_mount_options) out.emplace_back("VolumeBindMountOptions");
  return out;
}

bool declares_all(std::span<const kube::Interned> declared,
                  std::span<const std::string_view> needed) {
  return std::ranges::all_of(needed, [&](std::string_view feature) {
    return std::ranges::any_of(declared,
                               [&](const kube::Interned& one) { return one.view() == feature; });
  });
}

std::unique_ptr<Filter> make_declared_features_filter(Cycle& cycle) {
  if (!cycle.cluster.release().checks_declared_features()) return nullptr;
  auto needed = needed_features(cycle.in.pod.spec);
  if (needed.empty()) return nullptr;
  return std::make_unique<DeclaredFeaturesFilter>(cycle, std::move(needed));
}

}  // namespace plim::placement
