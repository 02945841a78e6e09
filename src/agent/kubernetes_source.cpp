#include "agent/kubernetes_source.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <sys/stat.h>

#include <fmt/format.h>

#include "agent/labels.hpp"
#include "agent/pod_cgroups.hpp"
#include "agent/pod_fetch.hpp"
#include "agent/pods.hpp"
#include "base/event.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace plim::agent {
namespace {

constexpr std::chrono::milliseconds kLook{500};  // how often to check directories for new pods
constexpr std::chrono::seconds kEager{5};
constexpr std::chrono::seconds kFirstWait{1}, kLongestWait{30};
constexpr int kPatience = 3;  // polls until a pod without cgroup is reported

std::string lower_qos(node::Qos qos) {
  return to_lower(node::qos_name(qos));
}

class KubernetesSource final : public TaskSource {
 public:
  KubernetesSource(const Executor& loop, Clock& clock, KubernetesNodeConfig config, double interval,
                   const node::CgroupMounts& mounts)
      : clock_(clock),
        config_(std::move(config)),
        fetch_(loop, config_),
        cgroups_(mounts, config_.cgroup_driver, config_.cgroup_root),
        watched_(cgroups_.watched()),
        every_(std::chrono::duration_cast<Nanos>(std::chrono::duration<double>(
            config_.sync_interval.value_or(std::max(interval, 5.0))))),
        first_(loop),
        tasks_of_loop_(loop) {}

  void start() override {
    if (every_.count() > 0) tasks_of_loop_.spawn("pods", poll_for_ever());
  }

  Task<void> stop() override { co_await tasks_of_loop_.stop(); }

  Task<void> prepare(bool vanished) override {
    if (vanished) complete_ = false;
    if (every_.count() == 0) {
      if (clock_.steady() >= not_before_) co_await poll();
      co_return;
    }
    // So that the first iteration has tasks, unless the kubelet is slow.
    if (!asked_) {
      const SteadyTime until = clock_.steady() + std::chrono::seconds(1);
      co_await first_.wait_until(clock_, until);
    }
  }

  TaskList tasks() const override { return listed_; }

  bool ready() const override { return asked_; }

  std::string failure() const override { return failure_; }

  const std::map<std::string, std::uint64_t>& errors() const override { return errors_; }

  double age_seconds() const override {
    if (!synced_) return 0;
    return std::chrono::duration<double>(clock_.steady() - *synced_).count();
  }

 private:
  // The directory of a pod is created before its containers run: after a new directory, poll more
  // often for a while.
  Task<void> poll_for_ever() {
    std::uint64_t seen = look();
    SteadyTime eager_until{};
    for (;;) {
      co_await poll();
      const bool eager = clock_.steady() < eager_until;
      const Nanos wait =
          failure_.empty() ? (eager ? std::min<Nanos>(every_, kLook) : every_) : Nanos(0);
      const SteadyTime until = std::max(clock_.steady() + wait, not_before_);
      while (clock_.steady() < until) {
        co_await clock_.sleep_until(std::min<SteadyTime>(until, clock_.steady() + kLook));
        if (look() == seen) continue;
        seen = look();
        eager_until = clock_.steady() + kEager;
        if (failure_.empty()) break;
      }
    }
  }

  // Changes whenever the directory of a pod is created or removed.
  std::uint64_t look() const {
    std::uint64_t out = 0;
    for (const std::string& path : watched_) {
      struct stat info{};
      if (::stat(path.c_str(), &info) != 0) continue;
      for (std::uint64_t part : {static_cast<std::uint64_t>(info.st_ino), info.st_nlink,
                                 static_cast<std::uint64_t>(info.st_mtim.tv_sec),
                                 static_cast<std::uint64_t>(info.st_mtim.tv_nsec)})
        out = out * 1099511628211U + part;
    }
    return out;
  }

  Task<void> poll() {
    Fetched fetched = co_await fetch_.fetch();
    if (fetched.failure)
      failed(*fetched.failure);
    else
      take(fetched.bodies);
    asked_ = true;
    first_.notify();
  }

  void failed(const FetchFailure& failure) {
    failure_ = failure.reason;
    ++errors_[failure.reason];
    warnings_.write(log::Level::warn, "node", "cannot get the list of pods: " + failure.message,
                    {{"reason", failure.reason}});
    wait_ = wait_.count() == 0 ? Nanos(kFirstWait) : std::min<Nanos>(wait_ * 2, kLongestWait);
    not_before_ = clock_.steady() + wait_;
  }

  void take(std::vector<std::string>& bodies) {
    std::size_t hash = 0;
    for (const std::string& body : bodies) hash = hash * 31 + std::hash<std::string_view>{}(body);
    if (hash != body_hash_ || !synced_) {
      std::vector<PodFacts> pods;
      for (std::string& body : bodies) {
        auto answer = decode_pod_list(body);
        if (!answer) {
          failed({"bad_json", answer.error().message});
          return;
        }
        for (const std::string& mistake : answer->mistakes) bad_pod(mistake);
        std::ranges::move(answer->pods, std::back_inserter(pods));
      }
      pods_ = std::move(pods);
      body_hash_ = hash;
      complete_ = false;
    }
    failure_.clear();
    wait_ = Nanos(0);
    not_before_ = {};
    synced_ = clock_.steady();
    // Searching for directories costs more than reading their files.
    if (!complete_) list();
  }

  void bad_pod(const std::string& what) {
    ++errors_["bad_pod"];
    if (complained_.insert(what).second) log::warn("node", what);
    if (complained_.size() > 1000) complained_.clear();
  }

  bool is_wanted(const PodFacts& pod) const {
    const auto& wanted = config_.namespaces;
    const bool any = std::ranges::find(wanted, "*") != wanted.end();
    if (!any && std::ranges::find(wanted, pod.ns) == wanted.end()) return false;
    if (!config_.kubelet_enabled && pod.host_ip != trim(config_.node_ip)) return false;
    return !pod.containers.empty() && (!config_.only_ready || pod.all_ready);
  }

  void list() {
    std::vector<NodeTask> tasks;
    std::map<std::string, int> missing;
    complete_ = true;
    for (const PodFacts& pod : pods_) {
      if (!is_wanted(pod)) continue;
      auto found = cgroups_.find(pod);
      complete_ = complete_ && found && found->containers.size() == pod.containers.size();
      if (found) {
        tasks.push_back(make_task(pod, std::move(*found)));
        continue;
      }
      int polls = ++missing[pod.uid];
      if (auto before = missing_.find(pod.uid); before != missing_.end())
        polls = missing[pod.uid] = before->second + 1;
      if (polls == kPatience) bad_pod(fmt::format("pod {}/{} has no cgroup", pod.ns, pod.name));
    }
    missing_ = std::move(missing);
    cgroups_.sweep();
    if (!listed_ || *listed_ != tasks)
      listed_ = std::make_shared<const std::vector<NodeTask>>(std::move(tasks));
  }

  NodeTask make_task(const PodFacts& pod, PodCgroup found) {
    NodeTask out{.id = pod.uid,
                 .name = fmt::format("{}/{}", pod.ns, pod.name),
                 .cgroup_path = std::move(found.path),
                 .containers = std::move(found.containers),
                 .is_pod = true};
    std::vector<std::string> clashes;
    out.labels = sanitise_labels(pod.labels, clashes);
    for (const std::string& name : clashes) {
      std::string what = fmt::format("{}: several labels become {}", out.name, name);
      if (complained_.insert(what).second) log::warn("node", what);
    }
    out.labels["app_kubernetes_io__qos_class"] = lower_qos(pod.qos);
    out.labels["task_id"] = out.id;
    out.labels["task_name"] = out.name;
    out.resources = pod.resources;
    return out;
  }

  Clock& clock_;
  KubernetesNodeConfig config_;
  PodFetch fetch_;
  PodCgroups cgroups_;
  std::vector<std::string> watched_;
  Nanos every_;
  Event first_;
  TaskGroup tasks_of_loop_;

  TaskList listed_;
  std::vector<PodFacts> pods_;
  std::size_t body_hash_ = 0;
  std::map<std::string, int> missing_;  // polls without cgroup, by uid
  std::set<std::string> complained_;
  std::map<std::string, std::uint64_t> errors_;
  std::string failure_;
  log::Throttle warnings_;
  bool asked_ = false;
  bool complete_ = false;  // every container of the answer had a cgroup
  std::optional<SteadyTime> synced_;
  SteadyTime not_before_ = {};
  Nanos wait_{0};
};

}  // namespace

Result<std::unique_ptr<TaskSource>> make_kubernetes_source(Executor loop, Clock& clock,
                                                           KubernetesNodeConfig config,
                                                           double interval,
                                                           const node::CgroupMounts& mounts) {
  return std::unique_ptr<TaskSource>(
      std::make_unique<KubernetesSource>(loop, clock, std::move(config), interval, mounts));
}

}  // namespace plim::agent
