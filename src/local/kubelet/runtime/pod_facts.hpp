// Plain data about a pod's containers at one moment. The pod's status and the next step are
// computed from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"

namespace plim::local::kubelet {

// One run of a container.
struct RunFacts {
  std::string id;  // 64 hex digits
  int restart = 0;
  WallTime started{};
  std::optional<WallTime> finished = {};  // none: it runs
  int exit_code = 0;
  int signal = 0;
  std::string reason = {};   // of the end: Completed, Error, OOMKilled, StartError
  std::string message = {};  // the termination message
  bool gone = false;         // its sandbox was replaced by another one

  bool running() const { return !finished; }

  bool failed() const { return finished && exit_code != 0; }
};

struct ContainerFacts {
  std::string name, image;
  std::string image_id = {};
  bool sidecar = false;               // an init container that keeps running
  std::optional<RunFacts> run = {};   // the newest one
  std::optional<RunFacts> last = {};  // the one before
  // Why the container does not run although it should: CrashLoopBackOff, ErrImagePull. Empty: the
  // usual reason at that stage.
  std::string waiting_reason = {}, waiting_message = {};
  bool started = false;              // its startup probe and postStart hook have succeeded
  bool ready = false;                // its readiness probe has succeeded
  bool restarts_for_resize = false;  // stopped, to start again with other resources

  bool running() const { return run && run->running(); }

  bool ended() const { return run && !run->running() && waiting_reason.empty(); }

  bool succeeded() const { return ended() && run->exit_code == 0; }
};

// Why a whole pod is Failed although its containers may not be.
struct PodFailure {
  std::string reason, message;
};

// A resize that waits or is under way. It becomes a condition of the pod.
struct ResizeFacts {
  std::int64_t generation = 0;  // of the pod, when the resize was asked for
  WallTime since{};
  std::string reason = {}, message = {};
};

struct PodFacts {
  std::string host_ip;
  std::string pod_ip = {};  // empty: none yet
  std::optional<WallTime> start_time = {};
  bool ready_to_start = false;  // directory, volumes and address exist
  std::vector<ContainerFacts> init = {}, containers = {};
  std::optional<PodFailure> failure = {};
  bool ended = false;  // all containers were stopped and none will start again
  // Resources by container: as the node has accepted them, and as running containers have them.
  // Empty before the node has accepted the pod.
  json::object allocated = {}, actuated = {};
  std::optional<ResizeFacts> resize_pending = {}, resize_in_progress = {};
};

enum class RestartPolicy { always, on_failure, never };

RestartPolicy restart_policy_of(const json::value& pod);
// Built from the spec: no container has run yet.
std::vector<ContainerFacts> init_containers_of(const json::value& pod);
std::vector<ContainerFacts> containers_of(const json::value& pod);

}  // namespace plim::local::kubelet
