// Watches disruption budgets and image inventories.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "kube/store.hpp"
#include "placement/needs.hpp"
#include "sched/cluster_event.hpp"
#include "sched/config.hpp"
#include "sched/etcd_inventories.hpp"
#include "sched/follower.hpp"
#include "sched/vocabulary.hpp"

namespace plim::sched {

// Everything that at least one profile needs.
placement::Needs needs_of(const Configuration& config);

// Belongs to one loop; co_await stop() before destroying it.
class SideInputs {
 public:
  using OnEvent = std::function<void(EventKind)>;

  SideInputs(const Executor& loop, std::shared_ptr<kube::Client> client, EtcdSource etcd,
             Engine& engine, kube::InternPool& pool, OnEvent on_event,
             std::function<void()> on_synced, Clock& clock);

  // Starts watches for needed kinds that are not watched yet.
  void start(const placement::Needs& needs);
  Task<void> stop();
  // True if the first list of every watched kind has been applied. It waits only a few seconds for
  // inventories.
  bool synced() const;

  std::vector<placement::DisruptionBudget> budgets() const;

 private:
  void follow_budgets();
  void take_inventory(const std::string& node, const loop::ImageInventory* inventory,
                      InventorySource reporter);
  Task<void> follow_inventories();
  bool knows_inventories() const;

  Executor loop_;
  std::shared_ptr<kube::Client> client_;
  Engine& engine_;
  kube::InternPool& pool_;
  OnEvent on_event_;
  std::function<void()> on_synced_;  // called for each first list
  Clock& clock_;
  kube::TextMap<placement::DisruptionBudget> budgets_;
  std::vector<std::unique_ptr<Follower>> disruptions_;
  placement::Needs followed_;
  std::unique_ptr<Follower> inventories_;  // null until the cluster has this kind
  std::unique_ptr<EtcdInventories> in_etcd_;
  bool started_ = false, looked_for_kind_ = false;
  SteadyTime patient_until_{};
  TaskGroup tasks_;
};

}  // namespace plim::sched
