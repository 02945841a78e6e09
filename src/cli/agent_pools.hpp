// The agent's module `pools`: from flags to a daemon on the agent's loop.
#pragma once

#include <memory>
#include <optional>

#include "base/files.hpp"
#include "cli/run.hpp"
#include "kube/config.hpp"
#include "pools/daemon.hpp"
#include "roles/agent_modules.hpp"

namespace plim::cli {

class PoolsModule final : public roles::AgentModule {
 public:
  // Beside a kubelet that gives CPUs out itself there is nothing to do for it: alone that is a
  // failure with an exit code of its own, among others it stays off.
  static Outcome<std::unique_ptr<PoolsModule>> make(const Context& context,
                                                    roles::AgentModules::Company company);

  Result<void> start(const Executor& loop, std::function<void(Error)> on_fatal) override;
  Task<void> stop() override;
  void reload() override;

  bool up() const override { return up_; }

  std::string not_ready() const override;
  json::value state() const override;

 private:
  PoolsModule() : roles::AgentModule("pools", Plm::bad_pool_config) {}

  pools::DaemonOptions options_;
  std::optional<kube::Config> cluster_;
  std::optional<FileLock> lock_;
  bool up_ = true;
  std::unique_ptr<pools::Daemon> daemon_;
};

// The agent with nothing but this module, until it is told to stop.
Outcome<int> run_pools_alone(const Context& context);

}  // namespace plim::cli
