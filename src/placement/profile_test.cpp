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
  const Profile profile = default_profile();
  ASSERT_EQ(profile.score.size(), 8U);
  EXPECT_EQ(profile.score.front(), (WeightedPlugin{PluginId::TaintToleration, 3}));
  EXPECT_EQ(profile.score.back(), (WeightedPlugin{PluginId::ImageLocality, 1}));
  EXPECT_EQ(profile.filter.size(), 13U);
  EXPECT_EQ(profile.locality.mode, LocalityMode::Compat);
}

}  // namespace
}  // namespace plim::placement
