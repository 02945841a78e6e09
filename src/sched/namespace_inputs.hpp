// Watches namespaces for their labels, and the Services and controllers in them, whose pods are
// spread.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "kube/informer.hpp"
#include "placement/needs.hpp"
#include "placement/selector_owners.hpp"
#include "sched/vocabulary.hpp"

namespace plim::sched {

// Belongs to one loop; co_await stop() before destroying it.
class NamespaceInputs {
 public:
  NamespaceInputs(const Executor& loop, std::shared_ptr<kube::Client> client, Engine& engine,
                  kube::InternPool& pool, std::function<void()> on_synced, Clock& clock);

  // Starts watches for needed kinds that are not watched yet.
  void start(const placement::Needs& needs);
  Task<void> stop();
  // True if the first list of every watched kind has been applied.
  bool synced() const;

 private:
  using Selecting = kube::Informer<placement::SelectingObject>;

  kube::Informer<kube::ObjectMeta> namespaces_;
  std::vector<std::unique_ptr<Selecting>> selecting_;
  placement::Needs followed_;
};

}  // namespace plim::sched
