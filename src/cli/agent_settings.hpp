// Converts the flags of `agent` to the settings of its modules.
#pragma once

#include "cli/run.hpp"
#include "roles/agent_role.hpp"

namespace plim::cli {

// Reads the file named by -c.
Outcome<agent::LoadedConfig> agent_config(const Context& context);

// `config` is the result of agent_config().
Outcome<roles::MeasureSettings> measure_settings(const Context& context, agent::AgentConfig config);
Outcome<roles::PoolsSettings> pools_settings(const Context& context);
Outcome<roles::ImagesSettings> images_settings(const Context& context);

}  // namespace plim::cli
