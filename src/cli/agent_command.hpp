// What the agent's commands share.
#pragma once

#include "base/json.hpp"
#include "cli/run.hpp"

namespace plim::cli {

// Measuring as root must be meant: exit 2 without --root.
Outcome<void> refuse_root(const Context& context);
// What the agent that listens there knows: tasks, pools.
Outcome<json::value> ask_agent(const std::string& url);

}  // namespace plim::cli
