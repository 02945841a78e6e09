// Converts the flags of `up` to the settings of a cluster.
#pragma once

#include <string>
#include <vector>

#include "cli/run.hpp"
#include "roles/up_run.hpp"

namespace plim::cli {

struct UpPlan {
  roles::UpSettings up;
  std::vector<std::string> warnings;  // about the files that were read; shown to the user
  std::vector<std::string> notes = {};
};

Outcome<UpPlan> plan_up(const Context& context);

}  // namespace plim::cli
