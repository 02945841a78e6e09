// The main loop of the scheduler: takes pods from the queue, decides where they go and binds them.
// Owns the parts that watch the cluster, decide, bind and report.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/random.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "sched/cache_dumper.hpp"
#include "sched/cluster_feed.hpp"
#include "sched/config.hpp"
#include "sched/decider.hpp"
#include "sched/event_writer.hpp"
#include "sched/explain_record.hpp"
#include "sched/extender_set.hpp"
#include "sched/extender_tries.hpp"
#include "sched/klog.hpp"
#include "sched/lease_events.hpp"
#include "sched/missing_events.hpp"
#include "sched/pod_tries.hpp"
#include "sched/pod_try.hpp"
#include "sched/scheduler_metrics.hpp"
#include "sched/scheduler_state.hpp"

namespace plim::sched {

struct DaemonOptions {
  std::shared_ptr<const Configuration> config;
  std::shared_ptr<const ExtenderList> extenders = std::make_shared<const ExtenderList>();
  std::string host;  // in the names of events' instances
  int verbosity = 0;
  Nanos max_unschedulable = std::chrono::minutes(5);
  bool annotate_decisions = false;
  bool explain_all_nodes = false;
  bool defer_claims = false;  // leave pods with resource claims to another scheduler
  EtcdSource etcd = {};       // where agents may publish image inventories
};

// Belongs to one loop; co_await stop() before destroying it.
class Daemon {
 public:
  // Events have their own client, so that they do not use up the rate limit of bindings.
  Daemon(const Executor& loop, const DaemonOptions& options,
         const std::shared_ptr<kube::Client>& client, std::shared_ptr<kube::Client> event_client,
         metrics::Registry& registry, Clock& clock = system_clock(),
         Random& random = system_random());
  ~Daemon();

  void start();
  Task<void> stop();

  // The daemon makes decisions only while it leads.
  void lead();
  void stop_leading();

  // Takes effect with the next decision. Pods that wait are tried again.
  void set_config(std::shared_ptr<const Configuration> config,
                  std::shared_ptr<const ExtenderList> extenders);

  const Configuration& config() const { return *state_.config(); }

  // True if the first list of every watched kind has been applied.
  bool synced() const { return feed_.synced(); }

  void on_decision(Decider::OnDecision callback) { decider_.on_decision(std::move(callback)); }

  void set_verbosity(int verbosity) { klog_.set_verbosity(verbosity); }

  LeaseEvents& lease_events() { return lease_events_; }

  Engine& engine() { return state_.engine(); }

  // Updates the metrics that hold the sizes of queue and cache. Call it before they are read.
  void update_sizes();

  // The resources that pods request, as metrics. Empty while another scheduler leads.
  std::string pod_resources() const;

  // What the decision about a running or waiting pod would be now, with all nodes. Nothing if the
  // pod is unknown, of another scheduler, or being bound. `uid` "" is any.
  std::optional<ExplainRecord> explain_now(std::string_view ns, std::string_view name,
                                           std::string_view uid);

  // Writes cache and queue to the log, and a little later whether they agree with what the API
  // server lists.
  void dump() { dumper_.dump(); }

 private:
  SchedulerState make_state(const DaemonOptions& options);
  TryContext context();
  void expose_metrics(metrics::Registry& registry);
  Task<void> schedule();
  bool may_bind() const;  // few enough bindings are in progress
  void try_pod(const SchedulingQueue::Attempt& attempt);

  Clock& clock_;
  Klog klog_;
  SchedulerMetrics metrics_;
  Event wake_;  // there may be a pod to try
  ExtenderSet extenders_;
  SchedulerState state_;
  ClusterFeed feed_;
  EventWriter events_;
  LeaseEvents lease_events_;
  MissingEvents missing_;
  Decider decider_;
  PodTries tries_;
  ExtenderTries extender_tries_;
  CacheDumper dumper_;
  bool leading_ = false, started_ = false;
  bool looked_for_missing_ = false;  // since it leads
  std::shared_ptr<metrics::Registry::Collect> collector_;
  TaskGroup tasks_;
};

}  // namespace plim::sched
