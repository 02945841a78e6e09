#include "placement/profile.hpp"

#include "base/result.hpp"
#include "placement/plugin_sets.hpp"

namespace plim::placement {

Profile default_profile() {
  Profile profile;
  const auto expanded = expand_sets(default_sets(), profile);
  PLIM_ASSERT(expanded);
  return profile;
}

}  // namespace plim::placement
