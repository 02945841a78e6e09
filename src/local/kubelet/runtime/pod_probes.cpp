// How a pod's worker watches the health of its containers.
#include <utility>

#include <fmt/format.h>

#include "local/kubelet/runtime/pod_worker.hpp"

namespace plim::local::kubelet {
using Type = kube::EventNote::Type;

namespace {

struct ProbeName {
  ProbeKind kind;
  std::string_view field, word;
};

constexpr std::array kProbes{
    ProbeName{ProbeKind::startup, "startupProbe", "Startup"},
    ProbeName{ProbeKind::readiness, "readinessProbe", "Readiness"},
    ProbeName{ProbeKind::liveness, "livenessProbe", "Liveness"},
};

std::string_view word_for(ProbeKind kind) {
  for (const ProbeName& probe : kProbes)
    if (probe.kind == kind) return probe.word;
  return "";
}

}  // namespace

// A container taken over from an earlier node keeps what its probes had found.
void PodWorker::start_probes(const std::string& name) {
  ContainerFacts& facts = *find_facts(name);
  const json::value spec = spec_of(name);
  const bool has_startup = find(spec, {"startupProbe"}) != nullptr;
  if (!has_startup) facts.started = true;
  if (facts.started && find(spec, {"readinessProbe"}) == nullptr) facts.ready = true;
  for (const ProbeName& probe : kProbes) {
    const json::value* given = find(spec, {probe.field});
    if (given == nullptr || (probe.kind == ProbeKind::startup && facts.started)) continue;
    containers_[name].probes.push_back(
        tasks_.spawn(fmt::format("{} of {} in pod {}", probe.field, name, full_name()),
                     run_probe(name, facts.run->id, probe.kind, *given)));
  }
}

void PodWorker::stop_probes(const std::string& name) {
  for (TaskGroup::Handle& probe : containers_[name].probes) probe.cancel();
  containers_[name].probes.clear();
}

HandlerTarget PodWorker::target_of(const std::string& name, const std::string& id) {
  return {.pod_ip = facts_.pod_ip,
          .container = spec_of(name),
          .id = id,
          .shim = &shim_,
          .clock = &node_.clock};
}

Task<void> PodWorker::run_probe(std::string name, std::string id, ProbeKind kind,
                                json::value probe) {
  const ProbeSettings settings = probe_settings(probe);
  ProbeState state(kind, settings);
  co_await node_.clock.sleep(settings.initial_delay);
  for (;;) {
    while (find_running(name, id) != nullptr && kind != ProbeKind::startup &&
           !find_running(name, id)->started)
      co_await changed_.wait();
    if (find_running(name, id) == nullptr) co_return;
    HandlerTarget target = target_of(name, id);
    const HandlerOutcome outcome = co_await run_handler(probe, std::move(target), settings.timeout);
    if (find_running(name, id) == nullptr) co_return;
    if (!outcome.success)
      event(Type::warning, "Unhealthy",
            fmt::format("{} probe failed: {}", word_for(kind), outcome.output), name);
    const bool news = state.record(outcome.success);
    ContainerFacts& facts = *find_facts(name);
    if (kind == ProbeKind::readiness && news) {
      facts.ready = state.passed();
      changed();
    } else if (kind == ProbeKind::startup && state.passed()) {
      facts.started = true;
      if (find(spec_of(name), {"readinessProbe"}) == nullptr) facts.ready = true;
      changed();
      co_return;
    } else if (news && !state.passed()) {
      event(Type::normal, "Killing",
            fmt::format("Container {} failed {} probe, will be restarted", name,
                        kind == ProbeKind::startup ? "startup" : "liveness"),
            name);
      const Nanos patience =
          settings.termination_grace ? Nanos(*settings.termination_grace) : grace();
      // Beside this task, which the end of the container cancels.
      tasks_.spawn(fmt::format("end of {} in pod {}", name, full_name()),
                   end_container(name, node_.clock.steady(), patience));
      co_return;
    }
    co_await node_.clock.sleep(settings.period);
  }
}

}  // namespace plim::local::kubelet
