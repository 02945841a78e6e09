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
                                                        {NodeResourcesBalancedAllocation, 1},
                                                        {ImageLocality, 1}}));
  EXPECT_EQ(profile.locality.mode, LocalityMode::Compat);
}

// As kube-scheduler 1.34 lists them with an empty configuration.
TEST(Profile, runs_the_plugins_of_the_default_set_in_their_order) {
  using enum PluginId;
  using Plugins = std::vector<PluginId>;
  const Profile profile = default_profile();
  EXPECT_EQ(profile.pre_enqueue, (Plugins{SchedulingGates, DynamicResources, DefaultPreemption}));
  const Plugins pre_filter{NodeAffinity,     NodePorts,       NodeResourcesFit, VolumeRestrictions,
                           NodeVolumeLimits, VolumeBinding,   VolumeZone,       PodTopologySpread,
                           InterPodAffinity, DynamicResources};
  EXPECT_EQ(profile.pre_filter, pre_filter);
  Plugins filter{NodeUnschedulable, NodeName, TaintToleration};
  filter.insert(filter.end(), pre_filter.begin(), pre_filter.end());
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

}  // namespace
}  // namespace plim::placement
