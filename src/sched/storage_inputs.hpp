// Watches claims, volumes, storage classes and what CSI drivers report.
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
#include "sched/follower.hpp"
#include "sched/vocabulary.hpp"

namespace plim::sched {

// Belongs to one loop; co_await stop() before destroying it.
class StorageInputs {
 public:
  using OnEvent = std::function<void(ClusterEvent)>;

  StorageInputs(const Executor& loop, std::shared_ptr<kube::Client> client, Engine& engine,
                kube::InternPool& pool, OnEvent on_event, const std::function<void()>& on_synced,
                Clock& clock);

  // Starts watches for needed kinds that are not watched yet.
  void start(const placement::Needs& needs);
  Task<void> stop();
  // True if the first list of every watched kind has been applied.
  bool synced() const;

 private:
  struct Watched {
    std::unique_ptr<Follower> follower;
    bool (*needed)(const placement::Needs& needs) = nullptr;
    bool started = false;
  };

  struct Kinds {
    EventKind add, update;
  };

  void follow_storage();
  void follow_csi();
  template <class T>
  void follow(const kube::Resource& resource,
              T (*read)(const kube::ObjectMeta&, const json::value&),
              std::function<void(const T&)> set, std::function<void(const T&)> remove,
              std::optional<Kinds> kinds, bool (*needed)(const placement::Needs&));

  Executor loop_;
  std::shared_ptr<kube::Client> client_;
  Engine& engine_;
  kube::InternPool& pool_;
  OnEvent on_event_;
  Clock& clock_;
  std::vector<Watched> watched_;
};

}  // namespace plim::sched
