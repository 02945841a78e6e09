// Events about the node and its pods: CPUs pinned, drift, mistakes of the configuration.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "kube/event_recorder.hpp"
#include "pools/cluster_view.hpp"
#include "pools/cpuset_plan.hpp"
#include "pools/event_digest.hpp"

namespace plim::pools {

// Nothing is recorded before start(), which needs an API server. Belongs to one loop; co_await
// stop() before destroying it.
class PoolEvents {
 public:
  PoolEvents(std::string node_name, Clock& clock);

  // The view must outlive it.
  void start(const Executor& loop, std::shared_ptr<kube::Client> client,
             const ClusterView& cluster);
  Task<void> stop();
  Task<void> flush(Nanos at_most);  // for a process that is about to end

  // About the pod of a container; written by the next write().
  void add(const LiveContainer& container, kube::EventNote::Type type, const std::string& reason,
           const std::string& text);
  // Each note once for a container, not at every look.
  void add_notes(const std::vector<Note>& notes, const std::vector<LiveContainer>& containers);
  // Written at once.
  void warn_of_node(const std::string& reason, const std::string& text);
  // Those that are due: at most one of each object and reason in a minute.
  void write();

 private:
  std::string node_name_;
  Clock& clock_;
  const ClusterView* cluster_ = nullptr;
  std::unique_ptr<kube::EventRecorder> recorder_;
  EventDigest digest_;
  std::set<std::string> noted_;  // of containers that are there
};

}  // namespace plim::pools
