// The agent's module `measure`: measures what tasks use, by a configuration file that may change.
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
  agent::GetEnv env;          // for what the file takes from the environment
  agent::AgentConfig config;  // what the file says now
  agent::RunnerOptions runner = {};
  std::string run_dir = {};  // "": none was asked for, and none is needed
  bool dry_run = false;
};

// A changed file is taken over by ending the runner and starting another one. If the new one cannot
// run, the old configuration runs again.
class MeasureModule final : public AgentModule {
 public:
  // `listen` is where it is shown with other modules if neither file nor flag names an address.
  MeasureModule(MeasureSettings settings, AgentModules::Company company, std::string listen);

  Task<Result<void>> start(ModuleHost host) override;
  Task<void> stop() override;
  void reload() override;

  std::vector<std::string> files() const override { return {settings_.config_path}; }

  // Who asked for some iterations wants to know that there are none.
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
  std::optional<agent::AgentConfig> before_;  // what ran until the last change
  ModuleHost host_;
  std::unique_ptr<Event> changed_;
  std::unique_ptr<TaskGroup> keeping_, iterating_;
  std::unique_ptr<agent::MeasureRunner> runner_;
  std::optional<Result<void>> ended_;  // of the runner: how its iterations ended
  bool reread_ = false, stopping_ = false;
};

}  // namespace plim::roles
