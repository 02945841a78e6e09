// Watches the cluster through the API and keeps the scheduler's state up to date.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "kube/informer.hpp"
#include "kube/store.hpp"
#include "placement/needs.hpp"
#include "sched/etcd_inventories.hpp"
#include "sched/namespace_inputs.hpp"
#include "sched/object_texts.hpp"
#include "sched/scheduler_state.hpp"
#include "sched/side_inputs.hpp"
#include "sched/storage_inputs.hpp"

namespace plim::sched {

// Belongs to one loop; co_await stop() before destroying it.
class ClusterFeed {
 public:
  // `on_synced` is called each time one more of the first lists has been applied.
  ClusterFeed(const Executor& loop, std::shared_ptr<kube::Client> client, EtcdSource etcd,
              SchedulerState& state, ObjectTexts& texts, std::function<void()> on_synced,
              Clock& clock);

  void start(const placement::Needs& needs);
  Task<void> stop();

  // Also watches the kinds that are needed. Kinds that are no longer needed stay watched.
  void follow(const placement::Needs& needs);

  // True if the first list of every watched kind has been applied.
  bool synced() const;

  const kube::Store<kube::Pod>& pods() const { return pods_.store(); }

  std::vector<placement::DisruptionBudget> budgets() const { return inputs_.budgets(); }

 private:
  void add_handlers();

  SchedulerState& state_;
  ObjectTexts& texts_;
  std::function<void()> on_synced_;
  kube::InternPool pool_;
  kube::Informer<kube::Pod> pods_;
  kube::Informer<kube::Node> nodes_;
  NamespaceInputs namespaces_;
  StorageInputs storage_;
  SideInputs inputs_;
};

}  // namespace plim::sched
