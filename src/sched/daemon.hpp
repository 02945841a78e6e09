// The scheduler at work: follows the cluster, decides, binds, and tells what became of each pod.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/random.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "kube/informer.hpp"
#include "sched/binder.hpp"
#include "sched/cache_comparer.hpp"
#include "sched/config.hpp"
#include "sched/event_writer.hpp"
#include "sched/evictor.hpp"
#include "sched/extender.hpp"
#include "sched/extender_round.hpp"
#include "sched/klog.hpp"
#include "sched/namespace_inputs.hpp"
#include "sched/object_texts.hpp"
#include "sched/pod_reports.hpp"
#include "sched/scheduler_metrics.hpp"
#include "sched/scheduler_state.hpp"
#include "sched/side_inputs.hpp"
#include "sched/vocabulary.hpp"

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
  EtcdSource etcd = {};       // where agents may have put what nodes hold
};

// One decision as explain wants it; told right after it was made.
struct DecisionNote {
  PodPointer pod;
  const Profile* profile = nullptr;
  const Decision* decision = nullptr;
  const PostFilterOutcome* post_filter = nullptr;  // null: a node was found, or extenders decide
  const Engine* engine = nullptr;
  int attempt = 0;
  WallTime started{};
  Nanos took{0};
};

// Belongs to one loop; co_await stop() before destroying it.
class Daemon {
 public:
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
  void set_config(std::shared_ptr<const Configuration> config,
                  std::shared_ptr<const ExtenderList> extenders);

  const Configuration& config() const { return *state_.config(); }

  // Every first list of what is followed has been applied.
  bool synced() const;

  void on_decision(OnDecision callback) { on_decision_ = std::move(callback); }

  void set_verbosity(int verbosity) { klog_.set_verbosity(verbosity); }

  // Something an operator should see, about the lease that is the scheduler's own object.
  void warn_operator(std::string reason, std::string note);
  // What became of the lease; its uid is the elector's.
  void tell_of_lease(std::string uid, std::string_view message);

  Engine& engine() { return state_.engine(); }

  void update_sizes();  // of queue and cache, for whoever scrapes them now

  // What pods ask for, as metrics; nothing while another one leads.
  std::string pod_resources() const;

  // Writes cache and queue to the log, and a little later whether they agree with what the API
  // server lists.
  void dump();

 private:
  using Attempt = SchedulingQueue::Attempt;

  // One try to place a pod, from its beginning to its end.
  struct Try {
    Attempt attempt;
    std::shared_ptr<const Configuration> config;  // owns the profile
    const Profile* profile = nullptr;
    SteadyTime started{};
    WallTime wall{};

    const kube::Pod& pod() const { return *attempt.pod; }

    const std::string& scheduler() const { return profile->scheduler_name; }
  };

  // What is told of a decision once the pod is bound.
  struct Placed {
    std::string node;
    std::size_t evaluated = 0, feasible = 0;
  };

  void add_handlers();
  void follow_what_is_needed();
  void use_extenders(std::shared_ptr<const ExtenderList> extenders);
  bool extenders_have_a_say(const kube::Pod& pod) const;

  Task<void> schedule();
  Task<void> compare_cache_with_list();
  std::optional<Try> begin(const Attempt& attempt);
  DecideOptions decide_options(const Try& current);
  Decision decide(const Try& current, DecideOptions options);
  void note(const Try& current, const Decision& decision,
            const PostFilterOutcome* outcome = nullptr);
  void conclude(const Try& current, const Decision& decision);
  void try_failed(const Try& current, const std::string& message);
  void report_error(const Try& current, const PodPointer& pod, std::string message);
  PostFilterOutcome look_for_victims(const Try& current, const Decision& decision);
  void refuse(const Try& current, const Decision& decision, const PostFilterOutcome& outcome);
  void place(const Try& current, const Decision& decision);
  void bound(const Try& current, const Placed& placed);
  void bind_failed(const Try& current, const Error& error);
  void log_scores(const kube::Pod& pod, const Decision& decision);
  kube::ObjectReference lease(std::string uid) const;

  // The same for pods about which extenders have a say. One at a time, beside the others.
  Task<void> ask_and_schedule(Try current);
  Task<void> ask_and_conclude(Try current);
  Task<void> ask_and_refuse(Try current, Decision decision, ExtenderRound::Extenders extenders);
  bool is_still_ours(const Try& current);

  DaemonOptions options_;
  Clock& clock_;
  SeededRandom draws_;
  Klog klog_;
  SchedulerMetrics metrics_;
  Event wake_;
  kube::InternPool pool_;
  ObjectTexts texts_;
  std::shared_ptr<const ExtenderList> extenders_;
  SchedulerState state_;
  kube::Informer<kube::Pod> pods_;
  kube::Informer<kube::Node> nodes_;
  NamespaceInputs namespaces_;
  SideInputs inputs_;
  EventWriter events_;
  PodReports reports_;
  Evictor evictor_;
  Binder binder_;
  CacheComparer comparer_;
  ExtenderRound round_;
  OnDecision on_decision_;
  bool leading_ = false, started_ = false, asking_ = false, comparing_ = false;
  std::shared_ptr<metrics::Registry::Collect> collector_;
  TaskGroup tasks_;
};

}  // namespace plim::sched
