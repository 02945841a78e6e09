// The inventories that agents put into an etcd (`plimsoll agent --images --publish etcd`).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/task.hpp"
#include "kube/etcd.hpp"
#include "loop/image_inventory.hpp"
#include "sched/vocabulary.hpp"

namespace plim::sched {

struct EtcdSource {
  std::shared_ptr<kube::EtcdClient> client;  // null: none
  std::string cluster = "default";           // in the keys
};

// Asks every few seconds which keys there are and at which revision, and reads those that changed.
// No watch: agents look at their runtime every ten seconds anyway, keys that went with their lease
// are seen by not being there, and after a lost connection, a compaction or a restored etcd there
// is nothing to catch up with. A round without changes costs a few hundred bytes a node.
// Belongs to one loop; co_await stop() before destroying it.
class EtcdInventories {
 public:
  // A node's inventory, or null when it is gone or cannot be read.
  using Tell = std::function<void(const std::string& node, const loop::ImageInventory*)>;

  EtcdInventories(const Executor& loop, EtcdSource source, Tell tell, Clock& clock);

  void start();
  Task<void> stop();

  bool synced() const { return synced_; }  // all that was there has been read once

 private:
  Task<void> follow();
  Task<Result<void>> look();
  Task<Result<void>> read(std::string node, kube::EtcdKey key);
  void forget_all_but(const std::vector<kube::EtcdKey>& keys);
  std::string node_of(const std::string& key) const;

  EtcdSource source_;
  std::string prefix_;
  Tell tell_;
  Clock& clock_;
  kube::TextMap<std::int64_t> known_;  // revision by node
  bool synced_ = false;
  log::Throttle log_;
  TaskGroup tasks_;
};

}  // namespace plim::sched
