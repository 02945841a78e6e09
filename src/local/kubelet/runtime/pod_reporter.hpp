// What a node writes to the API about one pod: its status, its events, its deletion.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/task.hpp"
#include "kube/event_recorder.hpp"
#include "local/kubelet/nodes/kubelet_pods.hpp"
#include "local/kubelet/runtime/pod_state.hpp"

namespace plim::local::kubelet {

// Belongs to the node's loop. The state outlives it.
class PodReporter {
 public:
  explicit PodReporter(PodState& pod) : pod_(pod) {}

  // Events of the types Normal and Warning, about the pod or about one of its containers.
  void note(std::string_view reason, std::string message, std::string_view container = {});
  void warn(std::string_view reason, std::string message, std::string_view container = {});

  // Writes the status that follows from the facts. Retries until the API accepts it or the pod is
  // gone.
  Task<void> write_status();
  // The event and the status of a pod that the node does not accept.
  Task<void> write_rejection(PodFailure why);
  // Writes the exact times of runs to an annotation, for benchmarks.
  Task<void> annotate_runs(std::vector<ContainerRun> runs);
  // Deletes the object for good. Only the kubelet does this, when nothing of the pod runs any more.
  Task<void> delete_object();

 private:
  void record(kube::EventNote::Type type, std::string_view reason, std::string message,
              std::string_view container);
  // False: build the status again and retry.
  Task<bool> write_once(json::value status);
  Task<bool> look_again();

  PodState& pod_;
};

}  // namespace plim::local::kubelet
