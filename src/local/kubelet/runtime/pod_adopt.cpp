// How a pod's worker and its shim find and follow each other.
#include <cstring>
#include <signal.h>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/rfc3339.hpp"
#include "base/text.hpp"
#include "kube/object.hpp"
#include "local/kubelet/nodes/pod_limits.hpp"
#include "local/kubelet/runtime/pod_worker.hpp"
#include "local/kubelet/runtime/process_tree.hpp"
#include "local/kubelet/shim/shim_spawn.hpp"

namespace plim::local::kubelet {

namespace {

int restart_of(const ShimRun& run) {
  return static_cast<int>(int_at(run.tag, {"restart"}).value_or(0));
}

RunFacts facts_of(const ShimRun& run) {
  return {.id = run.id, .restart = restart_of(run), .started = run.started};
}

// "SIGINT", "INT" or "2", as images say it; 0 for nothing known.
int signal_number(std::string_view name) {
  if (const auto number = parse_int(name)) return *number;
  if (name.starts_with("SIG")) name.remove_prefix(3);
  for (int number = 1; number < NSIG; ++number)
    if (const char* known = ::sigabbrev_np(number); known != nullptr && name == known)
      return number;
  return 0;
}

RunFacts facts_of_terminated(const json::value& state) {
  RunFacts out;
  std::string_view id = text_at(state, {"containerID"});
  if (const auto slashes = id.find("://"); slashes != id.npos) id.remove_prefix(slashes + 3);
  out.id = id;
  out.exit_code = static_cast<int>(int_at(state, {"exitCode"}).value_or(0));
  out.signal = static_cast<int>(int_at(state, {"signal"}).value_or(0));
  out.reason = text_at(state, {"reason"});
  out.message = text_at(state, {"message"});
  out.started = parse_rfc3339(text_at(state, {"startedAt"})).value_or(WallTime());
  out.finished = parse_rfc3339(text_at(state, {"finishedAt"})).value_or(WallTime());
  return out;
}

}  // namespace

Task<Result<void>> PodWorker::open_shim() {
  PLIM_CO_CHECK(co_await shim_.launch());
  PLIM_CO_TRY(std::shared_ptr<ShimWatch> watch, co_await shim_.watch());
  PLIM_CO_TRY(shim_state_, co_await watch->next());
  shim_open_ = true;
  tasks_.spawn("shim of pod " + full_name(), follow_shim(std::move(watch)));
  co_return Result<void>();
}

Task<void> PodWorker::follow_shim(std::shared_ptr<ShimWatch> watch) {
  for (;;) {
    auto state = co_await watch->next();
    if (!state) break;
    shim_state_ = std::move(*state);
    co_await apply_shim_state();
    changed();
  }
  if (!shim_open_) co_return;  // it was told to go
  log::warn("node", "a pod's shim is gone", {{"pod", full_name()}});
  lose_shim();
  changed();
}

Task<void> PodWorker::apply_shim_state() {
  std::vector<ShimRun> ended;
  for (const ShimRun& run : shim_state_.runs)
    if (!run.running && find_running(run.name, run.id) != nullptr) ended.push_back(run);
  for (const ShimRun& run : ended) {
    const ShimRun corrected = co_await correct_end(run);
    if (find_running(run.name, run.id) != nullptr) note_end(*find_facts(run.name), corrected);
  }
}

// A shim looks at its clock before it has the program loaded, and again when it has got a core
// after the end: the kernel knows better. What it says is told once, so it is kept for the node
// that comes after us; if that fails, the shim's times are still there.
Task<void> PodWorker::correct_start(ShimRun run) {
  if (node_.process_events == nullptr) co_return;
  const auto when = co_await node_.process_events->executed(run.pid, run.started_monotonic);
  ContainerFacts* facts = find_facts(run.name);
  if (!when || facts == nullptr || !facts->run || facts->run->id != run.id) co_return;
  const Moment started = Moment::at(*when);
  facts->run->started = started.wall;
  const RunTimes times{.started = started.wall, .started_monotonic = started.monotonic};
  (void)files_.write_times(run.name, facts->run->restart, times);
  for (ContainerRun& known : runs_) {
    if (known.container_id != run.id) continue;
    known.started_wall = started.wall;
    known.started_monotonic = started.monotonic;
  }
}

Task<ShimRun> PodWorker::correct_end(ShimRun run) {
  if (node_.process_events == nullptr) co_return run;
  const auto when = co_await node_.process_events->ended(run.pid, run.started_monotonic);
  if (!when) co_return run;
  const Moment finished = Moment::at(*when);
  run.finished = finished.wall;
  run.finished_monotonic = finished.monotonic;
  RunTimes times = files_.read_times(run.name, restart_of(run));
  times.finished = finished.wall;
  times.finished_monotonic = finished.monotonic;
  (void)files_.write_times(run.name, restart_of(run), times);
  co_return run;
}

void PodWorker::use_kept_times(ShimRun& run) const {
  const RunTimes times = files_.read_times(run.name, restart_of(run));
  if (times.started_monotonic != Nanos(0)) {
    run.started = times.started;
    run.started_monotonic = times.started_monotonic;
  }
  if (times.finished_monotonic != Nanos(0)) {
    run.finished = times.finished;
    run.finished_monotonic = times.finished_monotonic;
  }
}

// Without its shim nobody can tell how a container ended, so it is ended for good.
void PodWorker::lose_shim() {
  shim_open_ = false;
  for (const ShimRun& run : shim_state_.runs) {
    ContainerFacts* facts = find_facts(run.name);
    if (facts == nullptr || !facts->running() || facts->run->id != run.id) continue;
    if (is_alive(run.pid, run.pid_start)) ::kill(run.pid, SIGKILL);
    node_.cgroups.kill(pod_, run.id);
    ShimRun lost = run;
    lost.running = false;
    lost.exit_code = 137;
    lost.finished = node_.clock.wall();
    note_end(*facts, lost);
    facts->run->reason = "ContainerStatusUnknown";
    facts->run->message = "The container could not be located when the pod was terminated";
  }
}

void PodWorker::note_end(ContainerFacts& facts, const ShimRun& run) {
  RunFacts& ended = *facts.run;
  const auto usage = node_.cgroups.usage(pod_, run.id);
  node_.cgroups.kill(pod_, run.id);
  ended.finished = run.finished;
  ended.exit_code = run.exit_code;
  ended.signal = run.signal;
  if (!run.error.empty()) {
    ended.reason = "StartError";
    ended.message = run.error;
  } else {
    const bool out_of_memory = usage && usage->oom_kills > 0 && run.exit_code != 0;
    ended.reason = run.exit_code == 0 ? "Completed" : out_of_memory ? "OOMKilled" : "Error";
    ended.message = files_.last_words(spec_of(facts.name), ended.restart, run.exit_code != 0);
  }
  // All pods share this machine's addresses, which no other cluster prepares its programs for.
  if (ended.exit_code != 0 &&
      files_.end_of_log(facts.name, ended.restart).find("ddress already in use") !=
          std::string::npos)
    event(kube::EventNote::Type::warning, "PortConflict",
          fmt::format("Container {} found its port taken: let it listen on POD_IP ({}) instead of "
                      "all addresses",
                      facts.name, facts_.pod_ip),
          facts.name);
  facts.started = facts.ready = false;
  facts.waiting_reason.clear();
  facts.waiting_message.clear();
  Container& container = containers_[facts.name];
  container.ended_at = node_.clock.steady();
  stop_probes(facts.name);
  for (ContainerRun& known : runs_) {
    if (known.container_id != run.id) continue;
    known.finished_wall = run.finished;
    known.finished_monotonic = run.finished_monotonic;
    known.exit_code = run.exit_code;
  }
}

Task<PodWorker::Left> PodWorker::adopt() {
  const auto note = files_.read_note();
  if (!note) co_return Left::nothing;
  auto left = read_shim_state(files_.directory());
  if (!left) co_return Left::nothing;
  facts_.pod_ip = note->pod_ip;
  begin_at(note->start_time);
  node_.addresses.reserve(facts_.pod_ip);
  accepted_ = true;
  auto found = co_await shim_.watch();
  std::shared_ptr<ShimWatch> watch;
  if (found) watch = std::move(*found);
  if (watch) {
    auto state = co_await watch->next();
    if (state) {
      left = std::move(state);
    } else {
      watch.reset();
    }
  }
  shim_state_ = std::move(*left);
  for (ShimRun& run : shim_state_.runs) {
    ContainerFacts* facts = find_facts(run.name);
    if (facts == nullptr) continue;
    use_kept_times(run);
    facts->last = std::exchange(facts->run, facts_of(run));
    facts->image = text_at(run.tag, {"image"});
    facts->image_id = text_at(run.tag, {"imageID"});
    note_run(run);
    if (!run.running) note_end(*facts, run);
  }
  if (!watch) {
    lose_shim();
    for (auto* list : {&facts_.init, &facts_.containers})
      for (ContainerFacts& facts : *list)
        if (facts.run) facts.run->gone = true;
    co_return Left::records;
  }
  shim_open_ = true;
  tasks_.spawn("shim of pod " + full_name(), follow_shim(std::move(watch)));
  for (std::string_view list : {"initContainerStatuses", "containerStatuses"})
    for (const json::value& status : list_at(pod_, {"status", list})) {
      ContainerFacts* facts = find_facts(text_at(status, {"name"}));
      if (facts == nullptr || !facts->running()) continue;
      facts->started = bool_at(status, {"started"});
      facts->ready = bool_at(status, {"ready"});
      start_probes(facts->name);
    }
  log::info("node", "took over a running pod", {{"pod", full_name()}});
  co_return Left::processes;
}

void PodWorker::note_run(const ShimRun& run) {
  containers_[run.name].stop_signal = signal_number(text_at(run.tag, {"stopSignal"}));
  constexpr std::size_t kRemembered = 100;
  if (runs_.size() >= kRemembered) runs_.erase(runs_.begin());
  ContainerRun& made = runs_.emplace_back();
  made.ns = kube::namespace_of(pod_);
  made.pod = kube::name_of(pod_);
  made.uid = uid_;
  made.container = run.name;
  made.container_id = run.id;
  made.restart = restart_of(run);
  made.started_wall = run.started;
  made.started_monotonic = run.started_monotonic;
}

std::vector<int> PodWorker::processes(std::string_view container) const {
  for (const ShimRun& run : shim_state_.runs) {
    if (run.name != container || !run.running) continue;
    std::vector<int> out = descendants_of(run.pid);
    out.push_back(run.pid);
    return out;
  }
  return {};
}

void PodWorker::restore_from_status() {
  accepted_ = true;
  for (std::string_view list : {"initContainerStatuses", "containerStatuses"})
    for (const json::value& status : list_at(pod_, {"status", list})) {
      ContainerFacts* facts = find_facts(text_at(status, {"name"}));
      const json::value* ended = find(status, {"state", "terminated"});
      if (facts == nullptr || ended == nullptr) continue;
      facts->run = facts_of_terminated(*ended);
      facts->run->restart = static_cast<int>(int_at(status, {"restartCount"}).value_or(0));
    }
}

}  // namespace plim::local::kubelet
