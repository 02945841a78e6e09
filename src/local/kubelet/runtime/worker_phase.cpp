#include "local/kubelet/runtime/worker_phase.hpp"

namespace plim::local::kubelet {

namespace {

WorkerPhase after_arriving(PhaseResult result, PodWish wish) {
  switch (result) {
    case PhaseResult::accepted:
      return WorkerPhase::running;
    case PhaseResult::rejected:
      return WorkerPhase::rejected;
    case PhaseResult::over:
      return WorkerPhase::restored;
    case PhaseResult::none:
    case PhaseResult::finished:
    case PhaseResult::expired:
    case PhaseResult::done:
      break;
  }
  if (wish == PodWish::run) return WorkerPhase::arriving;
  return wish == PodWish::suspend ? WorkerPhase::suspending : WorkerPhase::withdrawn;
}

WorkerPhase after_running(PhaseResult result, PodWish wish) {
  if (result == PhaseResult::finished) return WorkerPhase::finishing;
  const bool stays = result != PhaseResult::expired && wish == PodWish::run;
  return stays ? WorkerPhase::running : WorkerPhase::stopping;
}

WorkerPhase after_ended(WorkerPhase phase, PodWish wish) {
  if (wish == PodWish::forget) return WorkerPhase::gone;
  return wish == PodWish::remove ? WorkerPhase::deleting : phase;
}

}  // namespace

WorkerPhase next_phase(WorkerPhase phase, PhaseResult result, PodWish wish) {
  const bool done = result == PhaseResult::done;
  switch (phase) {
    case WorkerPhase::arriving:
      return after_arriving(result, wish);
    case WorkerPhase::running:
      return after_running(result, wish);
    case WorkerPhase::finishing:
      return done ? WorkerPhase::cleaning : phase;
    case WorkerPhase::stopping:
      if (!done) return phase;
      return wish == PodWish::suspend ? WorkerPhase::suspending : WorkerPhase::cleaning;
    case WorkerPhase::suspending:
      return done ? WorkerPhase::away : phase;
    case WorkerPhase::rejected:
    case WorkerPhase::withdrawn:
    case WorkerPhase::restored:
    case WorkerPhase::cleaning:
      return done ? WorkerPhase::ended : phase;
    case WorkerPhase::ended:
    case WorkerPhase::deleting:
      return after_ended(phase, wish);
    case WorkerPhase::away:
    case WorkerPhase::gone:
      break;
  }
  return phase;
}

bool holds_resources(WorkerPhase phase) {
  switch (phase) {
    case WorkerPhase::restored:
    case WorkerPhase::running:
    case WorkerPhase::finishing:
    case WorkerPhase::stopping:
    case WorkerPhase::suspending:
    case WorkerPhase::cleaning:
      return true;
    case WorkerPhase::arriving:
    case WorkerPhase::rejected:
    case WorkerPhase::withdrawn:
    case WorkerPhase::away:
    case WorkerPhase::ended:
    case WorkerPhase::deleting:
    case WorkerPhase::gone:
      break;
  }
  return false;
}

bool has_ended(WorkerPhase phase) {
  return phase == WorkerPhase::away || phase == WorkerPhase::ended ||
         phase == WorkerPhase::deleting || phase == WorkerPhase::gone;
}

std::optional<PodFailure> failure_on(WorkerPhase phase, PodWish wish) {
  if (phase != WorkerPhase::stopping && phase != WorkerPhase::withdrawn) return std::nullopt;
  if (wish == PodWish::terminate)
    return PodFailure{"Terminated", "Pod was terminated in response to imminent node shutdown."};
  if (wish == PodWish::run)
    return PodFailure{"DeadlineExceeded",
                      "Pod was active on the node longer than the specified deadline"};
  return std::nullopt;
}

}  // namespace plim::local::kubelet
