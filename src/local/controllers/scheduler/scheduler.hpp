// The built-in scheduler of a local cluster: enough to place pods as people expect it, until the
// product's own takes over.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "kube/decode.hpp"
#include "kube/event_recorder.hpp"
#include "kube/informer.hpp"
#include "kube/types.hpp"
#include "kube/work_queue.hpp"
#include "local/controllers/scheduler/choose.hpp"

namespace plim::local::controllers::scheduler {

// Places pods whose schedulerName is default-scheduler, one after another; bindings travel beside.
// Belongs to one loop; co_await stop() before destroying it.
class Scheduler {
 public:
  Scheduler(const Executor& loop, std::shared_ptr<kube::Client> client,
            Clock& clock = system_clock());

  void start();
  Task<void> stop();

 private:
  using PodPointer = std::shared_ptr<const kube::Pod>;
  using NodePointer = std::shared_ptr<const kube::Node>;

  struct Placed {
    std::string node;
    std::shared_ptr<const PlacedPod> pod;
  };

  void pod_changed(const PodPointer& before, const PodPointer& pod);
  void pod_gone(const PodPointer& pod);
  void node_changed(const NodePointer& before, const NodePointer& node);
  void node_gone(const NodePointer& node);
  void put(const std::string& node, std::shared_ptr<const PlacedPod> pod);
  void forget(const std::string& uid);
  void order_nodes();

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
  kube::EventRecorder events_;
  kube::WorkQueue<std::string> queue_;

  std::map<std::string, std::unique_ptr<NodeState>> states_;
  std::vector<const NodeState*> order_;  // empty when nodes came or went since the last search
  std::size_t next_ = 0;                 // where the next search begins
  std::unordered_map<std::string, Placed> placed_;  // by uid, with those still being bound
  std::map<std::string, std::map<std::string, std::shared_ptr<const PlacedPod>>> homeless_;
  std::set<std::string> unschedulable_;  // keys of pods that no node takes
  std::size_t binding_ = 0;
  Event bound_;    // binding_ went down
  Event changed_;  // something that may help an unschedulable pod
  TaskGroup tasks_;
};

}  // namespace plim::local::controllers::scheduler
