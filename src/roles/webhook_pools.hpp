// The pools of all nodes for the webhook. Reads files and ConfigMaps, and rereads them when they
// change.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/event.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "pools/config_maps.hpp"
#include "pools/mutate.hpp"

namespace plim::roles {

// The places of pool configurations.
struct PoolPlaces {
  std::vector<std::string> files;  // or directories
  std::vector<std::string> maps;   // ConfigMaps: "namespace/name"
};

// Belongs to one loop; co_await stop() before destroying it.
class WebhookPools {
 public:
  // `client` may be null if there are no ConfigMaps.
  WebhookPools(const Executor& loop, PoolPlaces places,
               const std::shared_ptr<kube::Client>& client);

  // Reads the pools for the first time and returns errors. Later errors are logged and the old
  // pools stay.
  Task<Result<void>> start();
  Task<void> stop();
  void reread();

  const pools::PoolCatalog& catalog() const { return catalog_; }

 private:
  Result<pools::PoolCatalog> read() const;
  Task<void> watch_files();

  Executor loop_;
  PoolPlaces places_;
  pools::PoolCatalog catalog_;
  Event changed_;
  bool started_ = false, seen_change_ = false;
  std::unique_ptr<pools::ConfigMaps> maps_;
  TaskGroup tasks_;
};

}  // namespace plim::roles
