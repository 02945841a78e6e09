// The agent's module `measure`: measures the resource use of tasks. Rereads its configuration file
// when it changes.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "agent/config.hpp"
#include "agent/measure_runner.hpp"
#include "roles/agent_modules.hpp"

namespace plim::roles {

struct MeasureSettings {
  std::string config_path;    // reread when it changes
  agent::GetEnv env;          // for values that the file takes from the environment
  agent::AgentConfig config;  // the current content of the file
  agent::RunnerOptions runner = {};
  std::string run_dir = {};  // "": not configured and not needed
  bool dry_run = false;
};

// When the file changes, the module stops the runner and starts a new one. If the new one cannot
// start, it runs the old configuration again.
class MeasureModule final : public AgentModule {
 public:
  // `listen` is the address of the endpoint if other modules run too and neither file nor flag
  // names one.
  MeasureModule(MeasureSettings settings, AgentModules::Company company, std::string listen);

  Task<Result<void>> start(ModuleHost host) override;
  Task<void> stop() override;
  void reload() override;

  std::vector<std::string> files() const override { return {settings_.config_path}; }

  // With --iterations the user waits for results, so a failure must end the process.
  bool is_vital() const override { return settings_.runner.iterations != 0; }

  bool alive() const override { return runner_ == nullptr || runner_->alive(); }

  std::string not_ready() const override;
  json::value state() const override;

  bool measures() const override { return true; }

  Addresses addresses() const override;
  std::shared_ptr<const std::string> metrics(const std::string& address) const override;

 private:
  Task<Result<void>> begin();
  Task<Result<void>> begin_or_go_back(std::optional<Error> failure);
  Task<void> end_runner();
  Task<void> keep();
  Task<void> iterate();

  MeasureSettings settings_;
  std::optional<agent::AgentConfig> before_;  // the configuration before the last change
  ModuleHost host_;
  std::unique_ptr<Event> changed_;
  std::unique_ptr<TaskGroup> keeping_, iterating_;
  std::unique_ptr<agent::MeasureRunner> runner_;
  std::optional<Result<void>> ended_;  // how the iterations of the runner ended
  bool reread_ = false, stopping_ = false;
};

}  // namespace plim::roles
