#include "local/kubelet/runtime/pod_worker.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "local/kubelet/runtime/pod_admission.hpp"
#include "local/kubelet/runtime/pod_leftovers.hpp"
#include "local/kubelet/runtime/pod_plan.hpp"
#include "local/kubelet/runtime/pod_status.hpp"

namespace plim::local::kubelet {
using namespace std::chrono_literals;

namespace {

constexpr auto kDeleteEvery = 10s;

Task<std::optional<PodFailure>> why_refused(PodState* pod) {
  auto failure = refuse_pod(pod->object, pod->node.node(), pod->node.others(pod->uid));
  if (failure) co_return failure;
  auto devices = co_await pod->node.devices.allocate(pod->object);
  if (devices) co_return std::nullopt;
  co_return PodFailure{
      "UnexpectedAdmissionError",
      fmt::format("Allocate failed due to {}, which is unexpected", devices.error().message)};
}

// None: the node accepts the pod and has reserved its devices.
Task<std::optional<PodFailure>> admit(PodState* pod) {
  // Checked first: when this pod is rejected, the other one may already have left.
  bool again = pod->node.leaving();
  auto failure = co_await why_refused(pod);
  while (failure && again) {
    again = pod->node.leaving();
    if (again) co_await pod->node.freed.wait();
    failure = co_await why_refused(pod);
  }
  co_return failure;
}

}  // namespace

PodWorker::PodWorker(PodContext& node, json::value pod)
    : pod_(node, std::move(pod)),
      report_(pod_),
      shim_(pod_, report_,
            [this](const std::string& container) {
              starter_.note_end(container);
              probes_.stop(container);
            }),
      probes_(pod_, report_, shim_,
              [this](const std::string& container, Nanos grace) {
                stopper_.stop_soon(container, grace);
              }),
      stopper_(pod_, report_, shim_, probes_),
      starter_(pod_, report_, shim_, probes_, stopper_),
      sandbox_(pod_, report_, shim_),
      resizer_(pod_, report_, stopper_) {}

void PodWorker::start() {
  pod_.tasks.spawn("pod " + pod_.full_name(), supervise());
}

void PodWorker::update(json::value pod) {
  pod_.take(std::move(pod));
  pod_.note_change();
}

void PodWorker::vanish() {
  pod_.want(PodWish::forget);
  pod_.note_change();
}

void PodWorker::retry_resize() {
  if (pod_.facts.resize_pending) pod_.note_change();
}

void PodWorker::end_for_shutdown(Shutdown kind) {
  pod_.want(kind == Shutdown::until_restart ? PodWish::suspend : PodWish::terminate);
  pod_.note_change();
}

Task<void> PodWorker::stop() {
  return pod_.tasks.stop();
}

Task<void> PodWorker::wait_ended() {
  while (!has_ended(phase_)) co_await pod_.changed.wait();
}

void PodWorker::enter(WorkerPhase next) {
  if (next == phase_) return;
  phase_ = next;
  if (auto failure = failure_on(next, pod_.wish)) {
    if (pod_.wish == PodWish::run) report_.warn(failure->reason, failure->message);
    pod_.facts.failure = std::move(failure);
  }
  if (next == WorkerPhase::ended) {
    pod_.node.freed.notify();
    pod_.node.retry_resizes();
  }
  pod_.note_change();
}

Task<void> PodWorker::supervise() {
  while (phase_ != WorkerPhase::away && phase_ != WorkerPhase::gone) {
    const PhaseResult result = co_await work();
    enter(next_phase(phase_, result, pod_.wish));
  }
  if (phase_ == WorkerPhase::away) co_return;
  pod_.files.remove_everything();
  pod_.node.gone(pod_.uid);
}

Task<PhaseResult> PodWorker::work() {
  switch (phase_) {
    case WorkerPhase::arriving:
    case WorkerPhase::running:
      co_return co_await live();
    case WorkerPhase::finishing:
      // Sidecars may take long to stop: show the ends of the other containers before that.
      if (phase_of(restart_policy_of(pod_.object), pod_.facts) == "Running")
        co_await report_.write_status();
      co_await stopper_.stop_all();
      break;
    case WorkerPhase::stopping:
      co_await stopper_.stop_all();
      break;
    case WorkerPhase::suspending:
      co_await clean_up();
      break;
    case WorkerPhase::rejected:
    case WorkerPhase::withdrawn:
    case WorkerPhase::restored:
    case WorkerPhase::cleaning:
      co_await settle();
      break;
    case WorkerPhase::ended:
      while (pod_.wish < PodWish::remove) co_await pod_.changed.wait();
      break;
    case WorkerPhase::deleting:
      co_await report_.delete_object();
      if (pod_.wish != PodWish::forget)
        co_await pod_.wait_until(pod_.node.clock.steady() + kDeleteEvery);
      break;
    case WorkerPhase::away:
    case WorkerPhase::gone:
      break;
  }
  co_return PhaseResult::done;
}

Task<PhaseResult> PodWorker::live() {
  if (!kubelet::is_active(pod_.object)) {
    restore_ended(pod_.object, pod_.facts);
    co_return PhaseResult::over;
  }
  const Left left = co_await adopt();
  lived_.reset();
  TaskGroup::Handle task = pod_.tasks.spawn("life of pod " + pod_.full_name(), life(left));
  while (!lived_) {
    const bool expired = pod_.node.clock.steady() >= pod_.deadline();
    const PhaseResult so_far = expired ? PhaseResult::expired : PhaseResult::none;
    if (next_phase(phase_, so_far, pod_.wish) != phase_) break;
    co_await pod_.wait_until(pod_.deadline());
  }
  task.cancel();
  while (!lived_) co_await pod_.changed.wait();
  // Without a result and without a wish, only the deadline can have ended it.
  const bool expired = *lived_ == PhaseResult::none && pod_.wish == PodWish::run;
  co_return expired ? PhaseResult::expired : *lived_;
}

Task<void> PodWorker::life(Left left) {
  // The destructor also runs when the task is cancelled.
  struct Ending {
    PodWorker& worker;
    PhaseResult result = PhaseResult::none;

    ~Ending() {
      worker.lived_ = result;
      worker.pod_.note_change();
    }
  };

  Ending ending{*this};
  if (left == Left::nothing) {
    const auto failure = co_await admit(&pod_);
    if (failure) {
      ending.result = PhaseResult::rejected;
      co_await report_.write_rejection(*failure);
      co_return;
    }
    pod_.allocate();
    pod_.begin_at(pod_.node.clock.wall());
    enter(next_phase(phase_, PhaseResult::accepted, pod_.wish));
  }
  const bool is_over = plan_pod(restart_policy_of(pod_.object), pod_.facts).finished;
  if (left != Left::processes && !is_over) {
    if (left == Left::records)
      report_.note("SandboxChanged", "Pod sandbox changed, it will be killed and re-created.");
    co_await report_.write_status();
    co_await sandbox_.make();
  }
  pod_.facts.ready_to_start = true;
  co_await run_containers();
  ending.result = PhaseResult::finished;
}

Task<PodWorker::Left> PodWorker::adopt() {
  auto left = find_leftovers(pod_.files);
  if (!left) co_return Left::nothing;
  resizer_.restore(left->note.pod);
  pod_.facts.pod_ip = left->note.pod_ip;
  pod_.begin_at(left->note.start_time);
  pod_.node.addresses.reserve(pod_.facts.pod_ip);
  enter(next_phase(phase_, PhaseResult::accepted, pod_.wish));
  const bool runs = co_await shim_.take_over(std::move(left->shim));
  if (!runs) co_return Left::records;
  for (const std::string& name : restore_readiness(pod_.object, pod_.facts)) probes_.start(name);
  log::info("node", "adopted a running pod", {{"pod", pod_.full_name()}});
  co_return Left::processes;
}

// The last status is written later, when nothing of the pod is left.
Task<void> PodWorker::run_containers() {
  for (;;) {
    const std::uint64_t seen = pod_.changes;
    resizer_.decide();
    const PodPlan plan = plan_pod(restart_policy_of(pod_.object), pod_.facts);
    if (plan.finished) co_return;
    co_await report_.write_status();
    resizer_.actuate();
    co_await sandbox_.refresh_volumes();
    SteadyTime wake = std::min(sandbox_.refresh_at(), resizer_.retry_at());
    for (const std::string& name : plan.start) {
      const SteadyTime next = co_await starter_.try_start(name);
      wake = std::min(wake, next);
    }
    co_await report_.write_status();
    if (pod_.changes == seen) co_await pod_.wait_until(wake);
  }
}

Task<void> PodWorker::clean_up() {
  probes_.stop_all();
  co_await sandbox_.remove();
}

Task<void> PodWorker::settle() {
  co_await clean_up();
  pod_.node.devices.release(pod_.uid);
  if (phase_ == WorkerPhase::restored) co_return;
  pod_.facts.ended = true;
  pod_.facts.ready_to_start = false;
  if (pod_.node.options.annotate_runs && pod_.wish != PodWish::forget)
    co_await report_.annotate_runs(shim_.runs());
  if (phase_ != WorkerPhase::rejected) co_await report_.write_status();
}

}  // namespace plim::local::kubelet
