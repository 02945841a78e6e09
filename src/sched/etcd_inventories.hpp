// The inventories that agents write to etcd (`plimsoll agent --images --publish etcd`).
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

// Lists the keys and their revisions every few seconds and reads those that changed. It needs no
// watch: agents check their runtime every ten seconds anyway, a key whose lease expired is missing
// in the list, and there is nothing to catch up with after a lost connection, a compaction or a
// restored etcd. A list without changes costs a few hundred bytes per node. Belongs to one loop;
// co_await stop() before destroying it.
class EtcdInventories {
 public:
  // A node's inventory, or null if it is gone or invalid.
  using Tell = std::function<void(const std::string& node, const loop::ImageInventory*)>;

  EtcdInventories(const Executor& loop, EtcdSource source, Tell tell, Clock& clock);

  void start();
  Task<void> stop();

  bool synced() const { return synced_; }  // the first list has been read

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
