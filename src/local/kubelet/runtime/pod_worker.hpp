// One pod on its node, from the moment it is bound there until nothing of it is left.
//
//   live()       takes the pod or refuses it, prepares it, starts what pod_plan says, again and
//                again; it is cancelled when the pod has to end
//   supervise()  waits for that end, stops the containers, cleans up, writes the last status and
//                has the object deleted
//
// Beside them one task follows the shim and one runs for every probe. All of them share facts_,
// from which every status is made.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/event.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "local/kubelet/nodes/kubelet_pods.hpp"
#include "local/kubelet/runtime/hook_handlers.hpp"
#include "local/kubelet/runtime/pod_context.hpp"
#include "local/kubelet/runtime/pod_facts.hpp"
#include "local/kubelet/runtime/pod_files.hpp"
#include "local/kubelet/runtime/probe_state.hpp"
#include "local/kubelet/runtime/restart_backoff.hpp"
#include "local/kubelet/shim/shim_client.hpp"

namespace plim::local::kubelet {

// Belongs to the node's loop; co_await stop() before destroying it.
class PodWorker {
 public:
  PodWorker(PodContext& node, json::value pod);

  void start();
  void update(json::value pod);  // the object has changed
  void vanish();                 // the object is gone: end at once
  void end_for_shutdown(Shutdown kind);
  // Leaves the processes running, to be taken over by the next node.
  Task<void> stop();
  Task<void> wait_ended();  // after end_for_shutdown()

  const json::value& pod() const { return pod_; }

  const PodFacts& facts() const { return facts_; }

  const PodFiles& files() const { return files_; }

  ShimClient& shim() { return shim_; }

  const std::vector<ContainerRun>& runs() const { return runs_; }

  std::vector<int> processes(std::string_view container) const;

  // The node has taken it and it holds its resources.
  bool is_active() const { return accepted_ && !ended_; }

  // It still does, though its object is gone.
  bool is_leaving() const { return is_active() && vanished_; }

 private:
  struct Container {
    RestartBackoff backoff, pull_backoff;
    SteadyTime ended_at{};
    std::optional<SteadyTime> retry_at;  // after a failed pull or a missing object
    std::vector<TaskGroup::Handle> probes;
    int stop_signal = 0;  // 0: SIGTERM
  };

  // What a node before this one has left of it.
  enum class Left { nothing, processes, records };

  // The whole life.
  Task<void> supervise();
  Task<void> live(Left left);
  bool has_to_end() const;
  bool comes_back() const;      // with the node
  SteadyTime deadline() const;  // of activeDeadlineSeconds
  void begin_at(WallTime time);
  Task<bool> admit();
  Task<std::optional<PodFailure>> why_refused();
  Task<bool> prepare();
  Task<Result<void>> make_sandbox();
  Task<Result<void>> fill_volumes();
  Task<Result<void>> make_api_access();
  Task<void> clean_up();
  Task<void> delete_object();

  Task<Left> adopt();
  void restore_from_status();

  // The shim.
  Task<Result<void>> open_shim();
  Task<void> follow_shim(std::shared_ptr<ShimWatch> watch);
  Task<void> apply_shim_state();
  void lose_shim();
  void note_run(const ShimRun& run);
  void note_end(ContainerFacts& facts, const ShimRun& run);
  Task<void> correct_start(ShimRun run);
  Task<ShimRun> correct_end(ShimRun run);
  void use_kept_times(ShimRun& run) const;

  // Starting one container.
  Task<SteadyTime> try_start(std::string name);
  Task<SteadyTime> start_container(std::string name);
  Task<std::shared_ptr<const images::Image>> pull(std::string name);
  Task<Result<Environment>> environment_of(json::value container,
                                           std::shared_ptr<const images::Image> image);
  SteadyTime wait_with(std::string name, std::string_view reason, std::string message);
  Task<bool> run_post_start(std::string name, std::string id);

  // Ending containers.
  Task<void> end_containers();
  Task<void> end_container(std::string name, SteadyTime begin, Nanos grace);
  SteadyTime grace_end(SteadyTime begin, Nanos grace) const;
  Nanos grace() const;

  // Probes.
  void start_probes(const std::string& name);
  void stop_probes(const std::string& name);
  Task<void> run_probe(std::string name, std::string id, ProbeKind kind, json::value probe);
  HandlerTarget target_of(const std::string& name, const std::string& id);

  // Status and events.
  Task<void> write_status();
  Task<bool> write_once(json::value status);
  Task<void> annotate_runs();
  void event(kube::EventNote::Type type, std::string_view reason, std::string message,
             std::string_view container = {});
  void changed();

  ContainerFacts* find_facts(std::string_view name);
  const ContainerFacts* find_running(std::string_view name, std::string_view id);
  json::value spec_of(const std::string& name) const;
  bool is_init(std::string_view name) const;
  std::string full_name() const;  // "name_namespace(uid)", as kubelets say

  PodContext& node_;
  json::value pod_;
  std::string uid_;
  PodFiles files_;
  ShimClient shim_;
  PodFacts facts_;
  std::optional<SteadyTime> began_;  // facts_.start_time by the clock that nobody sets
  std::map<std::string, Container> containers_;
  ShimState shim_state_;
  std::vector<ContainerRun> runs_;
  PodSources volume_sources_;
  SteadyTime volumes_again_{}, tokens_until_{};

  bool shim_open_ = false;
  bool live_running_ = false;
  bool accepted_ = false;
  bool rejected_ = false;
  bool finished_ = false;  // nothing is left to do for its containers
  bool deleting_ = false;
  bool vanished_ = false;
  std::optional<Shutdown> shutdown_;
  bool ended_ = false;  // its processes are gone

  std::uint64_t changes_ = 0;
  Event changed_;
  TaskGroup tasks_;
};

}  // namespace plim::local::kubelet
