// Helpers shared by the agent's commands.
#pragma once

#include "base/json.hpp"
#include "cli/run.hpp"

namespace plim::cli {

// Fails with exit code 2 if the user is root and did not pass --root.
Outcome<void> refuse_root(const Context& context);
// The state (tasks, pools) of the agent that listens at `url`.
Outcome<json::value> ask_agent(const std::string& url);

}  // namespace plim::cli
