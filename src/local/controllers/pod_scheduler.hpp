// The built-in scheduler of a local cluster, for clusters that run without the scheduler role. It
// watches pods and nodes, lets the placement engine decide, and writes bindings and reasons.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "kube/decode.hpp"
#include "kube/event_recorder.hpp"
#include "kube/informer.hpp"
#include "kube/types.hpp"
#include "kube/work_queue.hpp"
#include "local/controllers/owned_object.hpp"
#include "placement/engine.hpp"
#include "placement/selector_owners.hpp"

namespace plim::local::controllers {

// Places pods whose schedulerName is default-scheduler, one after another; bindings are written
// concurrently. It never removes a pod to make room. Belongs to one loop; co_await stop() before
// destroying it.
class PodScheduler {
 public:
  PodScheduler(const Executor& loop, std::shared_ptr<kube::Client> client,
               Clock& clock = system_clock());

  void start();
  Task<void> stop();

 private:
  using Selecting = kube::Informer<placement::SelectingObject>;

  void follow_namespaces();
  void follow_owners(Selecting& informer);
  void pod_changed(const PodPointer& before, const PodPointer& pod);
  void pod_gone(const PodPointer& pod);
  void node_changed(const NodePointer& before, const NodePointer& node);
  bool has_place(const kube::Pod& pod) const;

  Task<void> place_pods();
  void place(const std::string& key);
  Task<void> bind(PodPointer pod, std::string node);
  Task<void> report(PodPointer pod, std::string why);
  Task<void> retry_unschedulable();
  void record(const kube::Pod& pod, kube::EventNote::Type type, std::string reason,
              std::string message);

  std::shared_ptr<kube::Client> client_;
  Clock& clock_;
  kube::InternPool pool_;
  kube::Informer<kube::Pod> pods_;
  kube::Informer<kube::Node> nodes_;
  kube::Informer<kube::ObjectMeta> namespaces_;
  Selecting services_, replica_sets_;
  kube::EventRecorder events_;
  kube::WorkQueue<std::string> queue_;

  placement::Engine engine_;
  placement::Profile profile_;
  std::uint64_t decisions_ = 0;
  std::set<std::string> unschedulable_;  // keys of pods that no node takes
  std::size_t binding_ = 0;
  Event bound_;    // binding_ went down
  Event changed_;  // something that may help an unschedulable pod
  TaskGroup tasks_;
};

}  // namespace plim::local::controllers
