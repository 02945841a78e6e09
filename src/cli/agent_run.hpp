// The agent with its module `measure`, alone or beside others.
#pragma once

#include "agent/config.hpp"
#include "agent/measure_runner.hpp"
#include "cli/run.hpp"
#include "roles/agent_modules.hpp"

namespace plim::cli {

// Until it is told to stop, or the iterations asked for are done. `others` may be empty.
Outcome<int> run_measuring(const Context& context, agent::AgentConfig config,
                           agent::RunnerOptions options, roles::AgentModules others);

}  // namespace plim::cli
