// Mirror pods for roles, which run as processes next to the cluster. They are to roles what a
// kubelet's mirror pods are to its static pods: they show state and log, and deleting one restarts
// the role.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "kube/informer.hpp"
#include "local/cluster/mirror_object.hpp"
#include "local/cluster/role_log.hpp"
#include "local/controllers/owned_object.hpp"
#include "local/kubelet/nodes/kubelet_pods.hpp"
#include "local/kubelet/runtime/pod_facts.hpp"

namespace plim::local::cluster {

// Belongs to one loop; co_await stop() before destroying it. Each role has a key, such as
// "agent-n1".
class MirrorPods {
 public:
  struct Image {
    std::string name, id;
  };

  MirrorPods(const Executor& loop, Clock& clock, std::shared_ptr<kube::Client> client, Image image);

  // Starts to create and delete mirror pods; deletes those whose role no longer runs.
  void start();
  Task<void> stop();

  // Called when a role's pod was deleted. The pod stays until renew(), so that it does not
  // disappear before the process.
  void on_delete(std::function<void(const std::string& key)> callback);

  // Call begins() just before the process starts, and one of the others when it has ended.
  void begins(const std::string& key, MirrorPod pod);
  void cannot_begin(const std::string& key, const std::string& why, Nanos pause);
  void has_ended(const std::string& key, int exit_code, int signal, Nanos pause);
  // The next start creates a new pod.
  void renew(const std::string& key);
  // Its node was removed: shows the running process on another node.
  void move(const std::string& key, MirrorPod pod);
  void withdraw(const std::string& key);

  bool has(std::string_view ns, std::string_view pod) const;
  Task<Result<void>> read_log(std::string pod, kubelet::LogOptions options,
                              std::function<bool(std::string)> write);

 private:
  struct Entry {
    MirrorPod what;
    std::string hash;
    kubelet::PodFacts facts = {};
    json::value object = nullptr;  // as last seen or written; null if there is none
    std::string node_uid = {};     // UID of the node that owns it
    bool vanished = false;         // the object is gone, and we did not delete it
    bool told = false;             // the deletion was reported
    std::uint64_t log_from = 0;
    std::optional<std::uint64_t> log_before = {};  // where the previous run began

    kubelet::ContainerFacts& container() { return facts.containers.front(); }
  };

  Entry* find_entry(const std::string& key);
  Entry* find_pod(std::string_view name);
  void end_run(Entry& entry, kubelet::RunFacts end, Nanos pause);
  void see(const controllers::Object& object);
  void lose(const controllers::Object& object);
  void changed();
  Task<void> keep();
  Task<bool> settle(std::string key);
  Task<bool> lose_pod(std::string key);
  Task<Result<void>> make(std::string key);
  Task<Result<void>> write_status(std::string key);
  Task<void> remove_strays();
  void note(std::string_view name, const Error& error);

  Clock& clock_;
  std::shared_ptr<kube::Client> client_;
  Image image_;
  std::function<void(const std::string& key)> deleted_;
  std::map<std::string, Entry> entries_;
  kube::InternPool pool_;
  kube::Informer<controllers::Object> informer_;
  std::uint64_t changes_ = 0;
  Event changed_;
  log::Throttle log_;
  TaskGroup tasks_;
};

}  // namespace plim::local::cluster
