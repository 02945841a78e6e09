// The agent's module `images`: from flags to a daemon on the agent's loop.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "cli/run.hpp"
#include "images/daemon.hpp"
#include "kube/etcd.hpp"
#include "roles/agent_modules.hpp"

namespace plim::cli {

class ImagesModule final : public roles::AgentModule {
 public:
  static Outcome<std::unique_ptr<ImagesModule>> make(const Context& context);

  Result<void> start(const Executor& loop, std::function<void(Error)> on_fatal) override;
  Task<void> stop() override;
  std::string not_ready() const override;
  json::value state() const override;

 private:
  ImagesModule() : roles::AgentModule("images", Plm::bad_agent_config) {}

  Outcome<void> choose_places(const Context& context);
  Result<std::vector<std::unique_ptr<images::Publisher>>> publishers(const Executor& loop) const;

  images::DaemonOptions options_;
  std::vector<std::string> places_;  // of --publish; none with --dry-run
  std::optional<kube::Config> cluster_;
  kube::EtcdOptions etcd_;
  images::EtcdPlace etcd_place_;
  std::optional<FileLock> lock_;
  std::unique_ptr<images::Daemon> daemon_;
};

// The agent with nothing but this module, until it is told to stop.
Outcome<int> run_images_alone(const Context& context);

}  // namespace plim::cli
