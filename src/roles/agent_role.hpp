// The node agent as a daemon: its modules, and one HTTP endpoint for all of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "roles/agent_modules.hpp"
#include "roles/images_module.hpp"
#include "roles/measure_module.hpp"
#include "roles/pools_module.hpp"

namespace plim::roles {

// A module runs if it has settings.
struct AgentSettings {
  std::optional<MeasureSettings> measure = {};
  std::optional<PoolsSettings> pools = {};
  std::optional<ImagesSettings> images = {};
  // The address of the endpoint for all modules, unless `measure` names addresses; "": none.
  std::string listen = {};
};

// Runs until SIGTERM or SIGINT, until a module has done its work, or until a failure ends the
// process.
Outcome<int> run_agent(AgentSettings settings);

// The same for modules that exist already. `name` is the component in its log lines.
Outcome<int> run_modules(std::string_view name, AgentModules modules, std::string listen);

// The address of --metrics-listen: the default if the flag is empty, "" if it is `none`.
std::string agent_listen(const std::string& flag);

}  // namespace plim::roles
