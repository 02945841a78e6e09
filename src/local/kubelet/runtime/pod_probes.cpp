#include "local/kubelet/runtime/pod_probes.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "kube/paths.hpp"

namespace plim::local::kubelet {

namespace {

struct ProbeName {
  ProbeKind kind;
  kube::AnyPath path;
  std::string_view word;
};

constexpr std::array kProbes{
    ProbeName{ProbeKind::startup, "Container.startupProbe", "Startup"},
    ProbeName{ProbeKind::readiness, "Container.readinessProbe", "Readiness"},
    ProbeName{ProbeKind::liveness, "Container.livenessProbe", "Liveness"},
};

std::string_view word_for(ProbeKind kind) {
  for (const ProbeName& probe : kProbes)
    if (probe.kind == kind) return probe.word;
  return "";
}

}  // namespace

PodProbes::PodProbes(PodState& pod, PodReporter& report, ShimFollower& shim, OnFailure on_failure)
    : pod_(pod), report_(report), shim_(shim), on_failure_(std::move(on_failure)) {}

void PodProbes::start(const std::string& container) {
  ContainerFacts& facts = *pod_.find_facts(container);
  const json::value spec = pod_.spec_of(container);
  if (kube::find(spec, "Container.startupProbe") == nullptr) facts.started = true;
  if (facts.started && kube::find(spec, "Container.readinessProbe") == nullptr) facts.ready = true;
  for (const ProbeName& name : kProbes) {
    const json::value* given = kube::find(spec, name.path);
    if (given == nullptr || (name.kind == ProbeKind::startup && facts.started)) continue;
    Probe probe{.container = container, .id = facts.run->id, .kind = name.kind, .spec = *given};
    // Spawn before touching running_: a probe that fails at once calls stop().
    TaskGroup::Handle task = pod_.tasks.spawn(
        fmt::format("{} of {} in pod {}", name.path.key(), container, pod_.full_name()),
        run(std::move(probe)));
    running_[container].push_back(std::move(task));
  }
}

void PodProbes::stop(const std::string& container) {
  const auto found = running_.find(container);
  if (found == running_.end()) return;
  for (TaskGroup::Handle& probe : found->second) probe.cancel();
  running_.erase(found);
}

void PodProbes::stop_all() {
  while (!running_.empty()) stop(running_.begin()->first);
}

Task<void> PodProbes::run(Probe probe) {
  const ProbeSettings settings = probe_settings(probe.spec);
  ProbeState state(probe.kind, settings);
  co_await pod_.node.clock.sleep(settings.initial_delay);
  for (;;) {
    while (is_too_early(probe)) co_await pod_.changed.wait();
    if (pod_.find_running(probe.container, probe.id) == nullptr) co_return;
    HandlerTarget target = shim_.target_of(probe.container, probe.id);
    const HandlerOutcome outcome =
        co_await run_handler(probe.spec, std::move(target), settings.timeout);
    if (pod_.find_running(probe.container, probe.id) == nullptr) co_return;
    if (!outcome.success)
      report_.warn("Unhealthy",
                   fmt::format("{} probe failed: {}", word_for(probe.kind), outcome.output),
                   probe.container);
    const bool news = state.record(outcome.success);
    const bool goes_on = apply(probe, settings, state, news);
    if (!goes_on) co_return;
    co_await pod_.node.clock.sleep(settings.period);
  }
}

// The other probes wait for the startup probe.
bool PodProbes::is_too_early(const Probe& probe) {
  const ContainerFacts* facts = pod_.find_running(probe.container, probe.id);
  return facts != nullptr && probe.kind != ProbeKind::startup && !facts->started;
}

bool PodProbes::apply(const Probe& probe, const ProbeSettings& settings, const ProbeState& state,
                      bool news) {
  ContainerFacts& facts = *pod_.find_facts(probe.container);
  if (probe.kind == ProbeKind::readiness && news) {
    facts.ready = state.passed();
    pod_.note_change();
    return true;
  }
  if (probe.kind == ProbeKind::startup && state.passed()) {
    facts.started = true;
    if (kube::find(pod_.spec_of(probe.container), "Container.readinessProbe") == nullptr)
      facts.ready = true;
    pod_.note_change();
    return false;
  }
  if (!news || state.passed()) return true;
  report_.note("Killing",
               fmt::format("Container {} failed {} probe, will be restarted", probe.container,
                           probe.kind == ProbeKind::startup ? "startup" : "liveness"),
               probe.container);
  on_failure_(probe.container,
              settings.termination_grace ? Nanos(*settings.termination_grace) : pod_.grace());
  return false;
}

}  // namespace plim::local::kubelet
