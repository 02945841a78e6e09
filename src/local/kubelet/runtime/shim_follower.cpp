#include "local/kubelet/runtime/shim_follower.hpp"

#include <cstring>
#include <signal.h>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/text.hpp"
#include "local/kubelet/runtime/process_tree.hpp"

namespace plim::local::kubelet {

namespace {

// "SIGINT", "INT" or "2", as images write it. 0 if the kernel does not know it.
int signal_number(std::string_view name) {
  if (const auto number = parse_int(name)) return *number > 0 && *number < NSIG ? *number : 0;
  if (name.starts_with("SIG")) name.remove_prefix(3);
  for (int number = 1; number < NSIG; ++number)
    if (const char* known = ::sigabbrev_np(number); known != nullptr && name == known)
      return number;
  return 0;
}

}  // namespace

ShimFollower::ShimFollower(PodState& pod, PodReporter& report, OnEnd on_end)
    : pod_(pod),
      report_(report),
      on_end_(std::move(on_end)),
      shim_(pod.files.directory(), pod.node.options.shim),
      records_(pod) {}

std::vector<int> ShimFollower::processes(std::string_view container) const {
  for (const ShimRun& run : seen_.runs) {
    if (run.name != container || !run.running) continue;
    std::vector<int> out = descendants_of(run.pid);
    out.push_back(run.pid);
    return out;
  }
  return {};
}

int ShimFollower::stop_signal(const std::string& container) const {
  const auto found = stop_signals_.find(container);
  return found != stop_signals_.end() ? found->second : 0;
}

HandlerTarget ShimFollower::target_of(const std::string& container, const std::string& id) {
  return {.pod_ip = pod_.facts.pod_ip,
          .container = pod_.spec_of(container),
          .id = id,
          .shim = &shim_,
          .clock = &pod_.node.clock};
}

Task<Result<void>> ShimFollower::open() {
  if (open_) co_return Result<void>();
  PLIM_CO_CHECK(co_await shim_.launch());
  PLIM_CO_TRY(std::shared_ptr<ShimWatch> found, co_await shim_.watch());
  PLIM_CO_TRY(seen_, co_await found->next());
  watch(std::move(found));
  co_return Result<void>();
}

Task<bool> ShimFollower::take_over(ShimState left) {
  std::shared_ptr<ShimWatch> found;
  auto opened = co_await shim_.watch();
  if (opened) {
    found = std::move(*opened);
    auto state = co_await found->next();
    if (state) {
      left = std::move(*state);
    } else {
      found.reset();
      if (state.error().code == Code::unimplemented) {
        log::warn("node", "cannot go on with a pod's shim, its containers end",
                  {{"pod", pod_.full_name()}, {"error", state.error()}});
        co_await quit();
      }
    }
  }
  seen_ = std::move(left);
  for (ShimRun& run : seen_.runs) {
    if (pod_.find_facts(run.name) == nullptr) continue;
    records_.use_kept_times(run);
    begin_run(run);
    if (!run.running) end_run(run);
  }
  if (found) {
    watch(std::move(found));
    co_return true;
  }
  lose();
  for (auto* list : {&pod_.facts.init, &pod_.facts.containers})
    for (ContainerFacts& facts : *list)
      if (facts.run) facts.run->gone = true;
  co_return false;
}

Task<void> ShimFollower::quit() {
  open_ = false;
  auto done = co_await shim_.quit();
  if (!done)
    log::warn("node", "cannot end a pod's shim",
              {{"pod", pod_.full_name()}, {"error", done.error()}});
}

void ShimFollower::watch(std::shared_ptr<ShimWatch> found) {
  open_ = true;
  pod_.tasks.spawn("shim of pod " + pod_.full_name(), follow(std::move(found)));
}

Task<void> ShimFollower::follow(std::shared_ptr<ShimWatch> found) {
  for (;;) {
    auto state = co_await found->next();
    if (!state) break;
    seen_ = std::move(*state);
    co_await find_ends();
    pod_.note_change();
  }
  if (!open_) co_return;  // quit() ended it
  log::warn("node", "a pod's shim is gone", {{"pod", pod_.full_name()}});
  lose();
  pod_.note_change();
}

Task<void> ShimFollower::find_ends() {
  std::vector<ShimRun> ended;
  for (const ShimRun& run : seen_.runs)
    if (!run.running && pod_.find_running(run.name, run.id) != nullptr) ended.push_back(run);
  for (const ShimRun& run : ended) {
    const ShimRun corrected = co_await records_.correct_end(run);
    if (pod_.find_running(run.name, run.id) != nullptr) end_run(corrected);
  }
}

// Without its shim the exit codes of containers are unknown, so all of them are killed.
void ShimFollower::lose() {
  open_ = false;
  for (const ShimRun& run : seen_.runs) {
    if (pod_.find_running(run.name, run.id) == nullptr) continue;
    if (is_alive(run.pid, run.pid_start)) ::kill(run.pid, SIGKILL);
    pod_.node.cgroups.kill(pod_.object, run.id);
    ShimRun lost = run;
    lost.running = false;
    lost.exit_code = 137;
    lost.finished = pod_.node.clock.wall();
    end_run(lost);
    RunFacts& ended = *pod_.find_facts(run.name)->run;
    ended.reason = "ContainerStatusUnknown";
    ended.message = "The container could not be located when the pod was terminated";
  }
}

void ShimFollower::begin_run(const ShimRun& run) {
  ContainerFacts& facts = *pod_.find_facts(run.name);
  facts.last = std::exchange(
      facts.run, RunFacts{.id = run.id, .restart = restart_of(run), .started = run.started});
  facts.image = text_at(run.tag, {"image"});
  facts.image_id = text_at(run.tag, {"imageID"});
  facts.waiting_reason.clear();
  facts.waiting_message.clear();
  facts.restarts_for_resize = false;
  stop_signals_[run.name] = signal_number(text_at(run.tag, {"stopSignal"}));
  records_.add(run);
}

void ShimFollower::end_run(const ShimRun& run) {
  ContainerFacts& facts = *pod_.find_facts(run.name);
  RunFacts& ended = *facts.run;
  const auto usage = pod_.node.cgroups.usage(pod_.object, run.id);
  pod_.node.cgroups.kill(pod_.object, run.id);
  ended.finished = run.finished;
  ended.exit_code = run.exit_code;
  ended.signal = run.signal;
  if (!run.error.empty()) {
    ended.reason = "StartError";
    ended.message = run.error;
  } else {
    const bool out_of_memory = usage && usage->oom_kills > 0 && run.exit_code != 0;
    ended.reason = run.exit_code == 0 ? "Completed" : out_of_memory ? "OOMKilled" : "Error";
    ended.message =
        pod_.files.last_words(pod_.spec_of(facts.name), ended.restart, run.exit_code != 0);
  }
  warn_of_taken_port(facts);
  facts.started = facts.ready = false;
  facts.waiting_reason.clear();
  facts.waiting_message.clear();
  records_.end(run);
  on_end_(facts.name);
}

// All pods share this machine's addresses, which programs written for other clusters do not expect.
void ShimFollower::warn_of_taken_port(const ContainerFacts& facts) {
  if (facts.run->exit_code == 0) return;
  const std::string end = pod_.files.end_of_log(facts.name, facts.run->restart);
  if (end.find("ddress already in use") == std::string::npos) return;
  report_.warn(
      "PortConflict",
      fmt::format("The port of container {} is already in use: let it listen on POD_IP ({}) "
                  "instead of all addresses",
                  facts.name, pod_.facts.pod_ip),
      facts.name);
}

}  // namespace plim::local::kubelet
