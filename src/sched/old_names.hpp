// Names that older configurations use: plugins of the beta versions, and the predicates and
// priorities of the Policy API before them.
#pragma once

#include <optional>
#include <string_view>

#include "sched/vocabulary.hpp"

namespace plim::sched {

struct OldPlugin {
  std::string_view name;
  std::optional<PluginId> now = {};                     // none: it has no successor
  std::optional<placement::FitStrategy> strategy = {};  // of the old plugin, with NodeResourcesFit
  bool refused_in_v1 = false;                           // v1 knows the name and rejects it
};

const OldPlugin* find_old_plugin(std::string_view name);

// "ImageLocality" for "ImageLocalityPriority"; "" for a name that is not in the Policy API or has
// no successor.
std::string_view successor_of_policy(std::string_view name);

}  // namespace plim::sched
