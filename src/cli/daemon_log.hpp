// The log of a daemon.
#pragma once

#include "base/log.hpp"
#include "cli/values.hpp"

namespace plim::cli {

// Commands are quiet, daemons are not: `level` counts unless a flag names another.
void configure_role_log(const Values& values, log::Level level = log::Level::info);

}  // namespace plim::cli
