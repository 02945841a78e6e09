#include "local/kubelet/runtime/run_records.hpp"

#include <algorithm>

#include "kube/object.hpp"
#include "local/kubelet/shim/shim_spawn.hpp"

namespace plim::local::kubelet {

int restart_of(const ShimRun& run) {
  return static_cast<int>(int_at(run.tag, {"restart"}).value_or(0));
}

void RunRecords::add(const ShimRun& run) {
  constexpr std::size_t kRemembered = 100;
  if (runs_.size() >= kRemembered) runs_.erase(runs_.begin());
  ContainerRun& made = runs_.emplace_back();
  made.ns = kube::namespace_of(pod_.object);
  made.pod = kube::name_of(pod_.object);
  made.uid = pod_.uid;
  made.container = run.name;
  made.container_id = run.id;
  made.restart = restart_of(run);
  made.started_wall = run.started;
  made.started_monotonic = run.started_monotonic;
}

void RunRecords::end(const ShimRun& run) {
  ContainerRun* known = find(run);
  if (known == nullptr) return;
  known->finished_wall = run.finished;
  known->finished_monotonic = run.finished_monotonic;
  known->exit_code = run.exit_code;
}

Task<void> RunRecords::correct_start(ShimRun run) {
  if (pod_.node.process_events == nullptr) co_return;
  const auto when = co_await pod_.node.process_events->executed(run.pid, run.started_monotonic);
  ContainerFacts* facts = pod_.find_facts(run.name);
  if (!when || facts == nullptr || !facts->run || facts->run->id != run.id) co_return;
  const Moment started = Moment::at(*when);
  facts->run->started = started.wall;
  const RunTimes times{.started = started.wall, .started_monotonic = started.monotonic};
  // If this fails, the next process still has the shim's times.
  (void)pod_.files.write_times(run.name, facts->run->restart, times);
  ContainerRun* known = find(run);
  if (known == nullptr) co_return;
  known->started_wall = started.wall;
  known->started_monotonic = started.monotonic;
}

Task<ShimRun> RunRecords::correct_end(ShimRun run) {
  if (pod_.node.process_events == nullptr) co_return run;
  const auto when = co_await pod_.node.process_events->ended(run.pid, run.started_monotonic);
  if (!when) co_return run;
  const Moment finished = Moment::at(*when);
  run.finished = finished.wall;
  run.finished_monotonic = finished.monotonic;
  RunTimes times = pod_.files.read_times(run.name, restart_of(run));
  times.finished = finished.wall;
  times.finished_monotonic = finished.monotonic;
  (void)pod_.files.write_times(run.name, restart_of(run), times);
  co_return run;
}

void RunRecords::use_kept_times(ShimRun& run) const {
  const RunTimes times = pod_.files.read_times(run.name, restart_of(run));
  if (times.started_monotonic != Nanos(0)) {
    run.started = times.started;
    run.started_monotonic = times.started_monotonic;
  }
  if (times.finished_monotonic != Nanos(0)) {
    run.finished = times.finished;
    run.finished_monotonic = times.finished_monotonic;
  }
}

ContainerRun* RunRecords::find(const ShimRun& run) {
  const auto found = std::ranges::find(runs_, run.id, &ContainerRun::container_id);
  return found != runs_.end() ? &*found : nullptr;
}

}  // namespace plim::local::kubelet
