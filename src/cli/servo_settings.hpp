// The ancestor's variables, and the flags that stand for them.
#pragma once

#include "cli/run.hpp"
#include "servo/settings.hpp"

namespace plim::cli {

// Flags of the command that is run win over the variables. The context must outlive it.
servo::GetSetting servo_setting(const Context& context);

}  // namespace plim::cli
