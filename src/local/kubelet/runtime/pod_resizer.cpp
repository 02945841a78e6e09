#include "local/kubelet/runtime/pod_resizer.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/rfc3339.hpp"
#include "kube/paths.hpp"
#include "local/kubelet/nodes/pod_limits.hpp"
#include "local/kubelet/runtime/pod_admission.hpp"
#include "local/kubelet/runtime/pod_resources.hpp"

namespace plim::local::kubelet {
using namespace std::chrono_literals;

namespace {

constexpr auto kDeferredEvery = 3min;  // as kubelets do; changes on the node retry earlier
constexpr auto kFailedEvery = 10s;

std::optional<ResizeFacts> resize_facts(const json::value& pod, std::string_view type) {
  for (const json::value& condition : kube::list_at(pod, "Pod.status.conditions")) {
    if (kube::text_at(condition, "PodCondition.type") != type) continue;
    return ResizeFacts{
        .generation = kube::int_at(condition, "PodCondition.observedGeneration").value_or(0),
        .since = parse_rfc3339(kube::text_at(condition, "PodCondition.lastTransitionTime"))
                     .value_or(WallTime()),
        .reason = std::string(kube::text_at(condition, "PodCondition.reason")),
        .message = std::string(kube::text_at(condition, "PodCondition.message"))};
  }
  return std::nullopt;
}

const json::value& member(const json::object& resources, std::string_view container) {
  static const json::value none = json::object();
  const json::value* found = resources.if_contains(container);
  return found != nullptr ? *found : none;
}

}  // namespace

void PodResizer::decide() {
  retry_at_ = SteadyTime::max();
  if (pod_.wanted == pod_.facts.allocated) {
    pod_.facts.resize_pending.reset();
    return;
  }
  const json::value asked = with_resources(pod_.object, pod_.wanted);
  const auto refused = refuse_resize(asked, pod_.node.node(), pod_.node.others(pod_.uid));
  if (refused)
    defer(refused->reason, refused->message);
  else
    allocate();
}

void PodResizer::allocate() {
  PodFacts& facts = pod_.facts;
  const json::value before = pod_.object;
  facts.allocated = pod_.wanted;
  pod_.object = with_resources(std::move(pod_.object), facts.allocated);
  facts.resize_pending.reset();
  facts.resize_in_progress =
      ResizeFacts{.generation = pod_.generation(), .since = pod_.node.clock.wall()};
  report_.note("ResizeStarted",
               resize_message("Pod resize started", pod_.object, pod_.generation()));
  // A restarted node reads it from there.
  const auto written = pod_.files.write_note({pod_.object, facts.pod_ip, *facts.start_time});
  if (!written)
    log::warn("node", "cannot note the resources of a pod",
              {{"pod", pod_.full_name()}, {"error", written.error()}});
  if (frees_resources(before, pod_.object)) pod_.node.retry_resizes();
}

void PodResizer::defer(std::string_view reason, std::string message) {
  retry_at_ = pod_.node.clock.steady() + kDeferredEvery;
  std::optional<ResizeFacts>& pending = pod_.facts.resize_pending;
  const bool is_new = !pending || pending->generation != pod_.generation();
  if (is_new)
    report_.warn("ResizeDeferred", resize_message(fmt::format("Pod resize {}", reason),
                                                  with_resources(pod_.object, pod_.wanted),
                                                  pod_.generation(), message));
  const WallTime since = pending ? pending->since : pod_.node.clock.wall();
  pending = ResizeFacts{.generation = pod_.generation(),
                        .since = since,
                        .reason = "Deferred",
                        .message = std::move(message)};
}

void PodResizer::actuate() {
  std::vector<std::string> in_place;
  bool waits = false;
  for (const std::string& name : outdated()) {
    const json::value spec = pod_.spec_of(name);
    if (needs_restart(spec, member(pod_.facts.actuated, name),
                      member(pod_.facts.allocated, name))) {
      restart(name);
      waits = true;
    } else {
      in_place.push_back(name);
    }
  }
  std::optional<ResizeFacts>& progress = pod_.facts.resize_in_progress;
  if (in_place.empty() && !progress) return;
  if (!progress)
    progress = ResizeFacts{.generation = pod_.generation(), .since = pod_.node.clock.wall()};
  auto done = check_memory(in_place);
  if (done) done = apply(in_place);
  if (!done) return fail_with(done.error().message);
  if (waits) return;
  report_.note("ResizeCompleted",
               resize_message("Pod resize completed", pod_.object, progress->generation));
  progress.reset();
}

std::vector<std::string> PodResizer::outdated() const {
  std::vector<std::string> out;
  for (const auto* list : {&pod_.facts.init, &pod_.facts.containers})
    for (const ContainerFacts& facts : *list)
      if (facts.running() &&
          member(pod_.facts.actuated, facts.name) != member(pod_.facts.allocated, facts.name))
        out.push_back(facts.name);
  return out;
}

void PodResizer::restart(const std::string& container) {
  ContainerFacts& facts = *pod_.find_facts(container);
  if (facts.restarts_for_resize) return;
  facts.restarts_for_resize = true;
  report_.note("Killing", fmt::format("Container {} resize requires restart", container),
               container);
  stopper_.stop_soon(container, pod_.grace());
}

// The kernel would kill processes of a container whose limit is below its usage.
Result<void> PodResizer::check_memory(const std::vector<std::string>& containers) const {
  for (const std::string& name : containers) {
    const json::value spec = pod_.spec_of(name);
    const std::int64_t limit = amount_of(spec, "limits", "memory").value();
    if (limit == 0) continue;
    const json::object before{{"resources", member(pod_.facts.actuated, name)}};
    const std::int64_t old = amount_of(before, "limits", "memory").value();
    if (old != 0 && limit >= old) continue;
    for (const auto* list : {&pod_.facts.init, &pod_.facts.containers})
      for (const ContainerFacts& facts : *list) {
        if (facts.name != name || !facts.run) continue;
        const auto usage = pod_.node.cgroups.usage(pod_.object, facts.run->id);
        if (usage && usage->memory_bytes >= static_cast<std::uint64_t>(limit))
          return fail(Code::conflict,
                      fmt::format("attempting to set container \"{}\" memory limit ({}) below "
                                  "current usage ({})",
                                  name, limit, usage->memory_bytes));
      }
  }
  return {};
}

// The pod's own limits have to have room for its containers at every moment.
Result<void> PodResizer::apply(const std::vector<std::string>& containers) {
  NodeCgroups& cgroups = pod_.node.cgroups;
  PodFacts& facts = pod_.facts;
  PLIM_CHECK(cgroups.make_pod(
      with_resources(pod_.object, larger_resources(facts.allocated, facts.actuated))));
  for (const std::string& name : containers) {
    PLIM_CHECK(cgroups.make_container(pod_.object, name, pod_.find_facts(name)->run->id));
    facts.actuated[name] = member(facts.allocated, name);
  }
  for (const std::string& name : outdated())
    if (pod_.find_facts(name)->restarts_for_resize) return {};  // still has its old limits
  return cgroups.make_pod(pod_.object);
}

void PodResizer::fail_with(const std::string& message) {
  ResizeFacts& progress = *pod_.facts.resize_in_progress;
  retry_at_ = std::min(retry_at_, pod_.node.clock.steady() + kFailedEvery);
  if (progress.reason == "Error" && progress.message == message) return;
  if (progress.reason != "Error") progress.since = pod_.node.clock.wall();
  progress.reason = "Error";
  progress.message = message;
  report_.warn("ResizeError",
               resize_message("Pod resize error", pod_.object, progress.generation, message));
}

void PodResizer::restore(const json::value& noted_pod) {
  PodFacts& facts = pod_.facts;
  facts.allocated = resources_of(noted_pod);
  facts.actuated = facts.allocated;
  for (kube::ListPath list : {kube::ListPath("Pod.status.initContainerStatuses"),
                              kube::ListPath("Pod.status.containerStatuses")})
    for (const json::value& status : kube::list_at(pod_.object, list))
      if (const json::value* shown = kube::find(status, "ContainerStatus.resources"))
        facts.actuated[kube::text_at(status, "ContainerStatus.name")] = *shown;
  facts.resize_pending = resize_facts(pod_.object, "PodResizePending");
  facts.resize_in_progress = resize_facts(pod_.object, "PodResizeInProgress");
  pod_.object = with_resources(std::move(pod_.object), facts.allocated);
}

}  // namespace plim::local::kubelet
