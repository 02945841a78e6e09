// The agent's module `pools`: assigns CPUs to containers and pins containers to them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/files.hpp"
#include "kube/config.hpp"
#include "pools/daemon.hpp"
#include "roles/agent_modules.hpp"

namespace plim::roles {

struct PoolsSettings {
  pools::DaemonOptions daemon;
  Outcome<kube::Config> cluster;  // or why there is none, which is a failure if the module runs
  std::string run_dir = {};       // directory of the lock
  bool allow_static = false;      // run even if the kubelet assigns CPUs itself
};

class PoolsModule final : public AgentModule {
 public:
  // If the kubelet assigns CPUs itself, this module has nothing to do. Alone it fails with its own
  // exit code; with other modules it stays off.
  static Outcome<std::unique_ptr<PoolsModule>> make(PoolsSettings settings,
                                                    AgentModules::Company company);

  Task<Result<void>> start(ModuleHost host) override;
  Task<void> stop() override;
  void reload() override;

  bool up() const override { return up_; }

  std::string not_ready() const override;
  json::value state() const override;

 private:
  explicit PoolsModule(PoolsSettings settings)
      : AgentModule("pools", Plm::bad_pool_config), settings_(std::move(settings)) {}

  PoolsSettings settings_;
  std::optional<FileLock> lock_;
  bool up_ = true;
  std::unique_ptr<pools::Daemon> daemon_;
};

}  // namespace plim::roles
