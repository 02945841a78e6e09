// The pods of a node as its HTTP server shows them. The node's runtime implements it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "base/task.hpp"

namespace plim::local::kubelet {

// Exact times of one run of a container.
struct ContainerRun {
  std::string ns, pod, uid, container, container_id;
  int restart = 0;
  WallTime started_wall = {}, finished_wall = {};  // finished: zero while it runs
  Nanos started_monotonic{0}, finished_monotonic{0};
  int exit_code = 0;
};

struct LogOptions {
  bool follow = false, previous = false, timestamps = false;
  std::optional<std::int64_t> tail_lines = {}, limit_bytes = {};
  std::optional<WallTime> since = {};
};

// Belongs to the node's loop.
class KubeletPods {
 public:
  virtual ~KubeletPods() = default;
  virtual std::vector<json::value> pods() const = 0;  // with the current status
  virtual std::vector<ContainerRun> runs() const = 0;

  // The processes of a container, to measure its usage on machines without cgroups.
  virtual std::vector<int> processes(const std::string& pod_uid,
                                     const std::string& container) const {
    static_cast<void>(pod_uid), static_cast<void>(container);
    return {};
  }

  // Passes pieces to `write` until the end of the log or until `write` returns false; with
  // `follow`, until the container ends. Code::not_found: no such pod or container.
  // Code::bad_request:
  // the container has not started yet.
  virtual Task<Result<void>> read_log(std::string ns, std::string pod, std::string container,
                                      LogOptions options,
                                      std::function<bool(std::string)> write) = 0;
};

}  // namespace plim::local::kubelet
