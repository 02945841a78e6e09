// How a pod's worker ends containers: hook, signal, patience, force.
#include <algorithm>
#include <signal.h>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/text.hpp"
#include "kube/object.hpp"
#include "local/kubelet/runtime/pod_worker.hpp"

namespace plim::local::kubelet {
using namespace std::chrono_literals;
using Type = kube::EventNote::Type;

Nanos PodWorker::grace() const {
  return std::chrono::seconds(int_at(pod_, {"spec", "terminationGracePeriodSeconds"}).value_or(30));
}

// Looked at anew each time: a second deletion may shorten it, a forced one ends it.
SteadyTime PodWorker::grace_end(SteadyTime begin, Nanos grace) const {
  if (vanished_) return SteadyTime::min();
  const auto given = int_at(pod_, {"metadata", "deletionGracePeriodSeconds"});
  if (deleting_ && given) grace = std::min<Nanos>(grace, std::chrono::seconds(*given));
  return begin + grace;
}

// Sidecars serve the others, so they go last, in the reverse of the order they came.
Task<void> PodWorker::end_containers() {
  const SteadyTime begin = node_.clock.steady();
  Nanos limit = grace();
  // A deletion may also ask for more patience than the pod does.
  if (const auto given = int_at(pod_, {"metadata", "deletionGracePeriodSeconds"});
      deleting_ && given)
    limit = std::chrono::seconds(*given);
  std::vector<std::string> others, sidecars;
  for (const auto* list : {&facts_.init, &facts_.containers})
    for (const ContainerFacts& facts : *list) {
      if (!facts.running()) continue;
      event(Type::normal, "Killing", fmt::format("Stopping container {}", facts.name), facts.name);
      (facts.sidecar ? sidecars : others).push_back(facts.name);
    }
  for (const std::string& name : others)
    tasks_.spawn(fmt::format("end of {} in pod {}", name, full_name()),
                 end_container(name, begin, limit));
  const auto running = [this](const std::string& name) { return find_facts(name)->running(); };
  while (std::any_of(others.begin(), others.end(), running)) co_await changed_.wait();
  std::reverse(sidecars.begin(), sidecars.end());
  for (const std::string& name : sidecars) co_await end_container(name, begin, limit);
}

Task<void> PodWorker::end_container(std::string name, SteadyTime begin, Nanos grace) {
  const ContainerFacts* facts = find_facts(name);
  if (facts == nullptr || !facts->running()) co_return;
  const std::string id = facts->run->id;
  stop_probes(name);
  const json::value spec = spec_of(name);
  const json::value* hook = find(spec, {"lifecycle", "preStop"});
  const Nanos left = grace_end(begin, grace) - node_.clock.steady();
  if (hook != nullptr && left > Nanos::zero()) {
    HandlerTarget target = target_of(name, id);
    const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(left);
    const HandlerOutcome done = co_await run_handler(*hook, std::move(target), limit);
    if (!done.success) event(Type::warning, "FailedPreStopHook", "PreStopHook failed", name);
  }
  if (find_running(name, id) != nullptr && shim_open_) {
    const int wanted = containers_[name].stop_signal;
    auto told = co_await shim_.signal(id, wanted != 0 ? wanted : SIGTERM);
    if (!told && told.error().code != Code::not_found)
      log::warn("node", "cannot signal a container",
                {{"pod", full_name()}, {"container", name}, {"error", told.error()}});
  }
  while (find_running(name, id) != nullptr && node_.clock.steady() < grace_end(begin, grace)) {
    const SteadyTime until = grace_end(begin, grace);
    co_await changed_.wait_until(node_.clock, until);
  }
  while (find_running(name, id) != nullptr && shim_open_) {
    auto killed = co_await shim_.kill(id);
    node_.cgroups.kill(pod_, id);
    if (!killed && killed.error().code != Code::not_found) break;
    if (find_running(name, id) != nullptr) co_await changed_.wait();
  }
}

}  // namespace plim::local::kubelet
