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

// Records nothing before start(), which needs an API server. Belongs to one loop; co_await stop()
// before destroying it.
class PoolEvents {
 public:
  PoolEvents(std::string node_name, Clock& clock);

  // The view must outlive this object.
  void start(const Executor& loop, std::shared_ptr<kube::Client> client,
             const ClusterView& cluster);
  Task<void> stop();
  Task<void> flush(Nanos at_most);  // call before the process ends

  // Adds an event about the pod of a container; the next write() sends it.
  void add(const LiveContainer& container, kube::EventNote::Type type, const std::string& reason,
           const std::string& text);
  // Adds each note once per container, not at every check.
  void add_notes(const std::vector<Note>& notes, const std::vector<LiveContainer>& containers);
  // Sends an event about the node for each text that the last call did not have.
  void add_double_bookings(const std::vector<std::string>& texts);
  // Sends an event about the node at once.
  void warn_of_node(const std::string& reason, const std::string& text);
  // Sends events that are due: at most one per minute for each container and reason.
  void write();

 private:
  std::string node_name_;
  Clock& clock_;
  const ClusterView* cluster_ = nullptr;
  std::unique_ptr<kube::EventRecorder> recorder_;
  EventDigest digest_;
  std::set<std::string> noted_;          // notes of containers that exist
  std::set<std::string> double_booked_;  // CPUs with two owners at the last check
};

}  // namespace plim::pools
