#include "placement/profile.hpp"

#include <gtest/gtest.h>

namespace plim::placement {
namespace {

TEST(Profile, names_every_plugin_and_finds_it_again) {
  for (std::size_t index = 0; index < kPluginCount; ++index) {
    const auto plugin = static_cast<PluginId>(index);
    EXPECT_EQ(plugin_named(name_of(plugin)), plugin);
  }
  EXPECT_EQ(name_of(PluginId::SchedulingGates), "SchedulingGates");
  EXPECT_EQ(name_of(PluginId::DefaultBinder), "DefaultBinder");
  EXPECT_EQ(plugin_named("imagelocality"), std::nullopt);
}

TEST(Profile, scores_with_the_default_weights) {
  using enum PluginId;
  const Profile profile = default_profile();
  EXPECT_EQ(profile.score, (std::vector<WeightedPlugin>{{TaintToleration, 3},
                                                        {NodeAffinity, 2},
                                                        {NodeResourcesFit, 1},
                                                        {VolumeBinding, 1},
                                                        {PodTopologySpread, 2},
                                                        {InterPodAffinity, 2},
                                                        {DynamicResources, 2},
                                                        {NodeResourcesBalancedAllocation, 1},
                                                        {ImageLocality, 1}}));
  EXPECT_EQ(profile.locality.mode, LocalityMode::Compat);
}

// As kube-scheduler 1.37 lists them with an empty configuration.
TEST(Profile, runs_the_plugins_of_the_default_set_in_their_order) {
  using enum PluginId;
  using Plugins = std::vector<PluginId>;
  const Profile profile = default_profile();
  EXPECT_EQ(profile.pre_enqueue, (Plugins{SchedulingGates, DynamicResources, DefaultPreemption}));
  const Plugins filter{NodeName,         NodeUnschedulable,   TaintToleration,    NodeAffinity,
                       NodePorts,        NodeResourcesFit,    VolumeRestrictions, NodeVolumeLimits,
                       VolumeBinding,    VolumeZone,          PodTopologySpread,  InterPodAffinity,
                       DynamicResources, NodeDeclaredFeatures};
  EXPECT_EQ(profile.pre_filter, filter);
  EXPECT_EQ(profile.filter, filter);
  EXPECT_EQ(profile.post_filter, (Plugins{DynamicResources, DefaultPreemption}));
  EXPECT_EQ(profile.pre_score,
            (Plugins{TaintToleration, NodeAffinity, NodeResourcesFit, VolumeBinding,
                     PodTopologySpread, InterPodAffinity, NodeResourcesBalancedAllocation}));
  EXPECT_EQ(profile.reserve, (Plugins{VolumeBinding, DynamicResources}));
  EXPECT_EQ(profile.permit, Plugins{});
  EXPECT_EQ(profile.pre_bind, profile.reserve);
  EXPECT_EQ(profile.bind, Plugins{DefaultBinder});
  EXPECT_EQ(profile.post_bind, Plugins{});
}

TEST(Profile, has_the_plugins_of_the_emulated_version) {
  using enum PluginId;
  Release release;
  release.minor = 34;
  const Profile oldest = default_profile(release);
  EXPECT_EQ(oldest.filter[0], NodeUnschedulable);
  EXPECT_EQ(oldest.filter[1], NodeName);
  EXPECT_EQ(oldest.filter.back(), DynamicResources);
  EXPECT_EQ(oldest.score.size(), 8u);
  release.minor = 35;
  const Profile next = default_profile(release);
  EXPECT_EQ(next.filter.back(), DynamicResources);
  EXPECT_EQ(next.score[6], (WeightedPlugin{DynamicResources, 2}));
  release.minor = 36;
  EXPECT_EQ(default_profile(release).filter.back(), NodeDeclaredFeatures);
}

}  // namespace
}  // namespace plim::placement
