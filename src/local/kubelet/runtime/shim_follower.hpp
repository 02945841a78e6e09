// Follows the shim of one pod: starts it, watches it, and updates the facts from its reports.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/task.hpp"
#include "local/kubelet/runtime/hook_handlers.hpp"
#include "local/kubelet/runtime/pod_reporter.hpp"
#include "local/kubelet/runtime/pod_state.hpp"
#include "local/kubelet/runtime/run_records.hpp"
#include "local/kubelet/shim/shim_client.hpp"

namespace plim::local::kubelet {

// Sets `run`, `started`, `ready` and the waiting reason of a container's facts when a run begins
// or ends. Belongs to the node's loop; state and reporter outlive it.
class ShimFollower {
 public:
  using OnEnd = std::function<void(const std::string& container)>;

  // `on_end` is called after each end of a container.
  ShimFollower(PodState& pod, PodReporter& report, OnEnd on_end);

  ShimClient& client() { return shim_; }

  int protocol() const { return seen_.protocol; }  // of the shim

  bool is_open() const { return open_; }

  const std::vector<ContainerRun>& runs() const { return records_.all(); }

  std::vector<int> processes(std::string_view container) const;
  int stop_signal(const std::string& container) const;  // 0: SIGTERM
  HandlerTarget target_of(const std::string& container, const std::string& id);

  // Starts the shim unless it runs, and follows it.
  Task<Result<void>> open();
  // Follows the shim that an earlier process left with the state `left`. False: the shim and its
  // containers have ended.
  Task<bool> take_over(ShimState left);
  // Ends the shim and all processes of the pod.
  Task<void> quit();

  // The container has started or could not be started.
  void begin_run(const ShimRun& run);
  void end_run(const ShimRun& run);

  Task<void> correct_start(ShimRun run) { return records_.correct_start(std::move(run)); }

  // Handles ends of containers in the shim's last report.
  Task<void> find_ends();

 private:
  void watch(std::shared_ptr<ShimWatch> found);
  Task<void> follow(std::shared_ptr<ShimWatch> found);
  void lose();
  void warn_of_taken_port(const ContainerFacts& facts);

  PodState& pod_;
  PodReporter& report_;
  OnEnd on_end_;
  ShimClient shim_;
  RunRecords records_;
  ShimState seen_;  // the shim's last report
  bool open_ = false;
  std::map<std::string, int> stop_signals_;  // by container
};

}  // namespace plim::local::kubelet
