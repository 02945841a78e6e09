#include "placement/profile.hpp"

#include "base/result.hpp"
#include "placement/plugin_sets.hpp"

namespace plim::placement {

Profile default_profile(const Release& release) {
  Profile profile;
  profile.release = release;
  const auto expanded = expand_sets(default_sets(release), profile);
  PLIM_ASSERT(expanded);
  return profile;
}

}  // namespace plim::placement
