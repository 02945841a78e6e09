#include "local/runtime/pod_plan.hpp"

#include <algorithm>

namespace plim::local {

namespace {

bool has_stopped(const ContainerFacts& container) {
  return container.run && !container.run->running();
}

bool starts_again(RestartPolicy policy, const ContainerFacts& container) {
  if (policy == RestartPolicy::always) return true;
  return policy == RestartPolicy::on_failure && container.run->failed();
}

// True: the init containers are through.
bool plan_init(RestartPolicy policy, const PodFacts& facts, PodPlan& plan) {
  for (const ContainerFacts& c : facts.init) {
    if (c.sidecar) {
      if (!c.running()) plan.start.push_back(c.name);
      if (!c.running() || !c.started) return false;
      continue;
    }
    if (has_stopped(c) && !c.run->failed()) continue;
    if (c.running()) return false;
    if (has_stopped(c) && policy == RestartPolicy::never) {
      plan.finished = true;
    } else {
      plan.start.push_back(c.name);
    }
    return false;
  }
  return true;
}

}  // namespace

PodPlan plan_pod(RestartPolicy policy, const PodFacts& facts) {
  PodPlan plan;
  const bool past_init = std::any_of(facts.containers.begin(), facts.containers.end(),
                                     [](const ContainerFacts& c) { return c.run.has_value(); });
  if (!past_init && !plan_init(policy, facts, plan)) {
    if (plan.finished) plan.start.clear();
    return plan;
  }
  if (past_init)
    for (const ContainerFacts& c : facts.init)
      if (c.sidecar && !c.running()) plan.start.push_back(c.name);
  bool open = false;
  for (const ContainerFacts& c : facts.containers) {
    if (c.running()) {
      open = true;
    } else if (!c.run || starts_again(policy, c)) {
      open = true;
      plan.start.push_back(c.name);
    }
  }
  if (!open) return {.start = {}, .finished = true};
  return plan;
}

}  // namespace plim::local
