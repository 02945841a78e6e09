// Where pools are configured, as --poolconfigs says it.
#pragma once

#include <string>
#include <vector>

#include "cli/errors.hpp"
#include "cli/values.hpp"

namespace plim::cli {

struct PoolPlaces {
  std::vector<std::string> files;  // or directories
  std::vector<std::string> maps;   // ConfigMaps: "namespace/name"
};

// Without the flag, the usual directories that are there.
Outcome<PoolPlaces> pool_places(const Values& values);

}  // namespace plim::cli
