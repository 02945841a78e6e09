// The node agent as a daemon: its modules, and one HTTP endpoint that shows all of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "roles/agent_modules.hpp"
#include "roles/images_module.hpp"
#include "roles/measure_module.hpp"
#include "roles/pools_module.hpp"

namespace plim::roles {

// The modules that are wanted have settings.
struct AgentSettings {
  std::optional<MeasureSettings> measure = {};
  std::optional<PoolsSettings> pools = {};
  std::optional<ImagesSettings> images = {};
  // Where all of them are shown, unless `measure` is on and says more; "": nowhere.
  std::string listen = {};
};

// Until SIGTERM or SIGINT; until a module has finished, or a failure ends the process.
Outcome<int> run_agent(AgentSettings settings);

// The same with modules that exist already. `name` is the part of its lines in the log.
Outcome<int> run_modules(std::string_view name, AgentModules modules, std::string listen);

// Of --metrics-listen: the usual address if it is empty, "" with `none`.
std::string agent_listen(const std::string& flag);

}  // namespace plim::roles
