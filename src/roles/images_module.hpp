// The agent's module `images`: publishes which images and layers the node holds.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "images/daemon.hpp"
#include "kube/config.hpp"
#include "kube/etcd.hpp"
#include "roles/agent_modules.hpp"

namespace plim::roles {

enum class ImagePlace { crd, annotation, etcd };

struct ImagesSettings {
  images::DaemonOptions daemon;
  std::vector<ImagePlace> places = {};       // empty: a dry run
  std::optional<kube::Config> cluster = {};  // for crd and annotation
  kube::EtcdOptions etcd = {};
  images::EtcdPlace etcd_place = {};
  std::string run_dir = {};  // directory of the locks
};

class ImagesModule final : public AgentModule {
 public:
  static Outcome<std::unique_ptr<ImagesModule>> make(ImagesSettings settings);

  Task<Result<void>> start(ModuleHost host) override;
  Task<void> stop() override;
  std::string not_ready() const override;
  json::value state() const override;

 private:
  explicit ImagesModule(ImagesSettings settings)
      : AgentModule("images", Plm::bad_agent_config), settings_(std::move(settings)) {}

  Result<std::vector<std::unique_ptr<images::Publisher>>> publishers(const Executor& loop) const;

  ImagesSettings settings_;
  std::vector<FileLock> locks_;  // one for each place
  std::unique_ptr<images::Daemon> daemon_;
};

}  // namespace plim::roles
