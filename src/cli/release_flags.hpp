// --emulated-version and --feature-gates, which the scheduler and `explain pod` share.
#pragma once

#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/values.hpp"
#include "placement/release.hpp"

namespace plim::cli {

struct ChosenRelease {
  placement::Release release;
  std::vector<std::string> idle_gates;  // gates that are set and have no effect
};

Outcome<ChosenRelease> chosen_release(const Values& values);

}  // namespace plim::cli
