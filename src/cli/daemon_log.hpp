// Configures the log of a daemon.
#pragma once

#include "base/log.hpp"
#include "cli/values.hpp"

namespace plim::cli {

// Daemons log from `level` on, unless a flag sets another level. Other commands log warnings only.
void configure_role_log(const Values& values, log::Level level = log::Level::info);

}  // namespace plim::cli
