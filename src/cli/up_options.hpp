// From the flags of `up` to what a cluster needs to know.
#pragma once

#include <string>
#include <vector>

#include "cli/run.hpp"
#include "roles/up_run.hpp"

namespace plim::cli {

struct UpPlan {
  roles::UpSettings up;
  std::vector<std::string> warnings;  // of what was read; for people
};

Outcome<UpPlan> plan_up(const Context& context);

}  // namespace plim::cli
