// The scheduler at work: follows the cluster, decides, binds, and tells what became of each pod.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/random.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "kube/informer.hpp"
#include "sched/config.hpp"
#include "sched/engine.hpp"
#include "sched/event_writer.hpp"
#include "sched/klog.hpp"
#include "sched/post_filter.hpp"
#include "sched/scheduler_metrics.hpp"
#include "sched/scheduling_queue.hpp"
#include "sched/selector_owners.hpp"
#include "sched/side_inputs.hpp"

namespace plim::sched {

struct DaemonOptions {
  std::shared_ptr<const Configuration> config;
  std::string host;  // in the names of events' instances
  int verbosity = 0;
  Nanos max_unschedulable = std::chrono::minutes(5);
  bool annotate_decisions = false;
  bool explain_all_nodes = false;
};

// One decision as explain wants it; told right after it was made.
struct DecisionNote {
  std::shared_ptr<const kube::Pod> pod;
  const Profile* profile = nullptr;
  const Decision* decision = nullptr;
  const Engine* engine = nullptr;
  int attempt = 0;
  WallTime started{};
  Nanos took{0};
};

// Belongs to one loop; co_await stop() before destroying it.
class Daemon {
 public:
  using PodPointer = std::shared_ptr<const kube::Pod>;
  using NodePointer = std::shared_ptr<const kube::Node>;
  using OnDecision = std::function<void(const DecisionNote&)>;

  // Events have a client of their own, so that they do not use up the bindings' rate.
  Daemon(const Executor& loop, DaemonOptions options, std::shared_ptr<kube::Client> client,
         std::shared_ptr<kube::Client> event_client, metrics::Registry& registry,
         Clock& clock = system_clock(), Random& random = system_random());
  ~Daemon();

  void start();
  Task<void> stop();

  // Nothing is decided before it leads, and nothing after it has stopped leading.
  void lead();
  void stop_leading();

  // From the next decision on; pods that wait are looked at again.
  void set_config(std::shared_ptr<const Configuration> config);

  const Configuration& config() const { return *config_; }

  // Every first list has been applied.
  bool synced() const;

  void on_decision(OnDecision callback) { on_decision_ = std::move(callback); }

  void set_verbosity(int verbosity) { klog_.set_verbosity(verbosity); }

  // Something an operator should see, about the lease that is the scheduler's own object.
  void warn_operator(std::string reason, std::string note);

  Engine& engine() { return engine_; }

  void update_sizes();  // of queue and cache, for whoever scrapes them now

 private:
  struct Assumed {
    std::string node;
  };

  // Services and controllers, which spread pods by default.
  using Selecting = kube::Informer<SelectingObject>;

  void add_handlers();
  void add_selecting(kube::Resource resource);
  void pod_changed(const PodPointer& before, const PodPointer& pod);
  void pod_gone(const PodPointer& pod);
  void node_changed(const NodePointer& before, const NodePointer& node);
  void happened(ClusterEvent event);
  void note_nomination(const PodPointer& before, const PodPointer& pod);

  Task<void> schedule();
  void schedule_one(const SchedulingQueue::Attempt& attempt);
  void place(const SchedulingQueue::Attempt& attempt, const Profile& profile,
             const Decision& decision, SteadyTime started);
  Task<void> bind(SchedulingQueue::Attempt attempt, std::string profile, std::string node,
                  std::int64_t missing_bytes, json::object annotations, SteadyTime started);
  void bind_failed(const SchedulingQueue::Attempt& attempt, const std::string& profile,
                   const Error& error, SteadyTime started);
  void forget(const PodPointer& pod);
  void refuse(const SchedulingQueue::Attempt& attempt, const Profile& profile,
              const Decision& decision, SteadyTime started);
  Task<void> evict(PodPointer pod, std::string profile, std::string node,
                   std::vector<PodPointer> victims);
  // None: leave it as it is.
  using Nomination = std::optional<std::string>;
  void report(const PodPointer& pod, const std::string& profile, std::string reason,
              std::string message, Nomination nomination = std::nullopt);
  Task<void> write_condition(PodPointer pod, std::string reason, std::string message,
                             Nomination nomination);
  void log_scores(const kube::Pod& pod, const Decision& decision);
  SchedulerEvent event_about(const kube::Pod& pod, const std::string& profile) const;
  QueueOptions queue_options() const;

  std::shared_ptr<const Configuration> config_;
  DaemonOptions options_;
  std::shared_ptr<kube::Client> client_;
  Clock& clock_;
  SeededRandom draws_;
  Klog klog_;
  SchedulerMetrics metrics_;
  kube::InternPool pool_;
  kube::Informer<kube::Pod> pods_;
  kube::Informer<kube::Node> nodes_;
  kube::Informer<kube::ObjectMeta> namespaces_;
  std::vector<std::unique_ptr<Selecting>> selecting_;
  EventWriter events_;
  Engine engine_;
  SideInputs inputs_;
  SchedulingQueue queue_;
  std::unordered_map<std::string, Assumed> assumed_;  // by uid, until the watch says so too
  OnDecision on_decision_;
  bool leading_ = false, started_ = false;
  std::size_t binding_ = 0;
  Event wake_;
  TaskGroup tasks_;
};

}  // namespace plim::sched
