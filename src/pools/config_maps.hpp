// Pool files from ConfigMaps of the API server, for processes that do not mount them as a volume.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "kube/informer.hpp"
#include "kube/interned.hpp"
#include "pools/pool_config.hpp"

namespace plim::pools {

// Belongs to one loop; co_await stop() before destroying it.
class ConfigMaps {
 public:
  // `names` are "namespace/name". `on_change` is called on the loop after one of them was added,
  // changed or deleted, and when the first list of all of them is complete.
  ConfigMaps(const Executor& loop, const std::shared_ptr<kube::Client>& client,
             const std::vector<std::string>& names, std::function<void()> on_change, Clock& clock);

  void start();
  Task<void> stop();
  bool synced() const;
  Task<void> wait_synced();
  std::vector<ConfigText> texts() const;

 private:
  struct Entries {
    kube::ObjectMeta meta;
    std::map<std::string, std::string> data;
  };

  kube::InternPool intern_;
  std::vector<std::unique_ptr<kube::Informer<Entries>>> informers_;
};

}  // namespace plim::pools
