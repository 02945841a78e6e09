// Settings of the servo: variables such as OPTUNE_URL, and the flags that replace them.
#pragma once

#include "cli/run.hpp"
#include "servo/settings.hpp"

namespace plim::cli {

// Flags take precedence over variables. The context must outlive the returned function.
servo::GetSetting servo_setting(const Context& context);

}  // namespace plim::cli
