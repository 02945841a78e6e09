#include "local/kubelet/runtime/container_stopper.hpp"

#include <algorithm>
#include <optional>
#include <ranges>
#include <signal.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/log.hpp"
#include "kube/paths.hpp"

namespace plim::local::kubelet {

namespace {

std::optional<Nanos> grace_of_deletion(const PodState& pod) {
  if (pod.wish < PodWish::remove) return std::nullopt;
  const auto given = kube::int_at(pod.object, "Pod.metadata.deletionGracePeriodSeconds");
  if (!given) return std::nullopt;
  return std::chrono::seconds(*given);
}

}  // namespace

Task<void> ContainerStopper::stop_all() {
  const SteadyTime begin = pod_.node.clock.steady();
  // A deletion may also allow more time than the pod's spec does.
  const Nanos grace = grace_of_deletion(pod_).value_or(pod_.grace());
  std::vector<std::string> others, sidecars;
  for (const auto* list : {&pod_.facts.init, &pod_.facts.containers})
    for (const ContainerFacts& facts : *list) {
      if (!facts.running()) continue;
      report_.note("Killing", fmt::format("Stopping container {}", facts.name), facts.name);
      (facts.sidecar ? sidecars : others).push_back(facts.name);
    }
  for (const std::string& name : others) spawn_stop(name, begin, grace);
  const auto runs = [this](const std::string& name) { return pod_.find_facts(name)->running(); };
  while (std::ranges::any_of(others, runs)) co_await pod_.changed.wait();
  std::ranges::reverse(sidecars);
  for (const std::string& name : sidecars) co_await stop(name, begin, grace);
}

void ContainerStopper::stop_soon(const std::string& container, Nanos grace) {
  spawn_stop(container, pod_.node.clock.steady(), grace);
}

void ContainerStopper::spawn_stop(const std::string& container, SteadyTime begin, Nanos grace) {
  pod_.tasks.spawn(fmt::format("end of {} in pod {}", container, pod_.full_name()),
                   stop(container, begin, grace));
}

Task<void> ContainerStopper::stop(std::string container, SteadyTime begin, Nanos grace) {
  const ContainerFacts* facts = pod_.find_facts(container);
  if (facts == nullptr || !facts->running()) co_return;
  const std::string id = facts->run->id;
  probes_.stop(container);
  const Nanos left = grace_end(begin, grace) - pod_.node.clock.steady();
  if (left > Nanos::zero()) co_await run_pre_stop(container, id, left);
  co_await send_signal(container, id);
  while (pod_.find_running(container, id) != nullptr &&
         pod_.node.clock.steady() < grace_end(begin, grace)) {
    const SteadyTime until = grace_end(begin, grace);
    co_await pod_.changed.wait_until(pod_.node.clock, until);
  }
  co_await kill(container, id);
}

Task<void> ContainerStopper::run_pre_stop(std::string container, std::string id, Nanos left) {
  const json::value spec = pod_.spec_of(container);
  const json::value* hook = kube::find(spec, "Container.lifecycle.preStop");
  if (hook == nullptr) co_return;
  HandlerTarget target = shim_.target_of(container, id);
  const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(left);
  const HandlerOutcome done = co_await run_handler(*hook, std::move(target), limit);
  if (!done.success) report_.warn("FailedPreStopHook", "PreStopHook failed", container);
}

Task<void> ContainerStopper::send_signal(std::string container, std::string id) {
  if (pod_.find_running(container, id) == nullptr || !shim_.is_open()) co_return;
  const int wanted = shim_.stop_signal(container);
  auto sent = co_await shim_.client().signal(id, wanted != 0 ? wanted : SIGTERM);
  if (!sent && sent.error().code != Code::not_found)
    log::warn("node", "cannot signal a container",
              {{"pod", pod_.full_name()}, {"container", container}, {"error", sent.error()}});
}

Task<void> ContainerStopper::kill(std::string container, std::string id) {
  while (pod_.find_running(container, id) != nullptr && shim_.is_open()) {
    auto killed = co_await shim_.client().kill(id);
    pod_.node.cgroups.kill(pod_.object, id);
    if (!killed && killed.error().code != Code::not_found) co_return;
    if (pod_.find_running(container, id) != nullptr) co_await pod_.changed.wait();
  }
}

// Computed again before each wait: a second deletion may shorten the grace period, and a forced
// one ends it.
SteadyTime ContainerStopper::grace_end(SteadyTime begin, Nanos grace) const {
  if (pod_.wish == PodWish::forget) return begin;
  return begin + std::min(grace, grace_of_deletion(pod_).value_or(grace));
}

}  // namespace plim::local::kubelet
