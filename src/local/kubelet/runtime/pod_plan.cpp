#include "local/kubelet/runtime/pod_plan.hpp"

#include <algorithm>

namespace plim::local::kubelet {

namespace {

bool has_stopped(const ContainerFacts& container) {
  return container.run && !container.run->running();
}

bool starts_again(RestartPolicy policy, const ContainerFacts& container) {
  if (container.restarts_for_resize) return true;
  if (policy == RestartPolicy::always) return true;
  return policy == RestartPolicy::on_failure && container.run->failed();
}

bool has_something_to_do(RestartPolicy policy, const ContainerFacts& container) {
  return !container.run || container.running() || starts_again(policy, container);
}

// True: all init containers have finished.
bool plan_init(RestartPolicy policy, const PodFacts& facts, PodPlan& plan) {
  for (const ContainerFacts& c : facts.init) {
    if (c.sidecar) {
      if (!c.running()) plan.start.push_back(c.name);
      if (!c.running() || !c.started) return false;
      continue;
    }
    if (has_stopped(c) && !c.run->failed() && !c.run->gone) continue;
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
  const bool open =
      std::any_of(facts.containers.begin(), facts.containers.end(),
                  [&](const ContainerFacts& c) { return has_something_to_do(policy, c); });
  if (!open) return {.start = {}, .finished = true};
  const bool past_init = std::any_of(facts.containers.begin(), facts.containers.end(),
                                     [](const ContainerFacts& c) { return c.run && !c.run->gone; });
  if (!past_init && !plan_init(policy, facts, plan)) {
    if (plan.finished) plan.start.clear();
    return plan;
  }
  if (past_init)
    for (const ContainerFacts& c : facts.init)
      if (c.sidecar && !c.running()) plan.start.push_back(c.name);
  for (const ContainerFacts& c : facts.containers)
    if (!c.running() && has_something_to_do(policy, c)) plan.start.push_back(c.name);
  return plan;
}

}  // namespace plim::local::kubelet
