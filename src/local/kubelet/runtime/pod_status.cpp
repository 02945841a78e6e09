#include "local/kubelet/runtime/pod_status.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/rfc3339.hpp"
#include "kube/paths.hpp"

namespace plim::local::kubelet {

namespace {

struct ConditionFacts {
  std::string_view type;
  bool holds = false;
  std::string reason = {}, message = {};
};

json::value make_condition(const json::value* before, const ConditionFacts& facts, WallTime now) {
  const std::string_view status = facts.holds ? "True" : "False";
  const bool same = before != nullptr && kube::text_at(*before, "PodCondition.status") == status;
  const std::string_view since =
      same ? kube::text_at(*before, "PodCondition.lastTransitionTime") : "";
  json::object out{
      {"type", facts.type},
      {"status", status},
      {"lastProbeTime", nullptr},
      {"lastTransitionTime", since.empty() ? format_rfc3339(now) : std::string(since)}};
  if (!facts.reason.empty()) out["reason"] = facts.reason;
  if (!facts.message.empty()) out["message"] = facts.message;
  return out;
}

constexpr std::string_view kResizePending = "PodResizePending";
constexpr std::string_view kResizeInProgress = "PodResizeInProgress";

void add_resize_condition(std::string_view type, const std::optional<ResizeFacts>& facts,
                          json::array& out) {
  if (!facts) return;
  json::object made{{"type", type},
                    {"observedGeneration", facts->generation},
                    {"status", "True"},
                    {"lastProbeTime", format_rfc3339(facts->since)},
                    {"lastTransitionTime", format_rfc3339(facts->since)}};
  if (!facts->reason.empty()) made["reason"] = facts->reason;
  if (!facts->message.empty()) made["message"] = facts->message;
  out.push_back(std::move(made));
}

const json::value* find_condition(const json::value& pod, std::string_view type) {
  for (const json::value& condition : kube::list_at(pod, "Pod.status.conditions"))
    if (kube::text_at(condition, "PodCondition.type") == type) return &condition;
  return nullptr;
}

// Our conditions in the order of a kubelet, then those of other writers, unchanged.
json::array merge_conditions(const json::value& pod, const std::vector<ConditionFacts>& ours,
                             WallTime now) {
  json::array out;
  const auto generation = kube::int_at(pod, "Pod.metadata.generation");
  for (const ConditionFacts& facts : ours) {
    json::value made = make_condition(find_condition(pod, facts.type), facts, now);
    if (generation) made.as_object()["observedGeneration"] = *generation;
    out.push_back(std::move(made));
  }
  for (const json::value& condition : kube::list_at(pod, "Pod.status.conditions")) {
    const std::string_view type = kube::text_at(condition, "PodCondition.type");
    const bool is_ours = std::any_of(ours.begin(), ours.end(),
                                     [&](const ConditionFacts& c) { return c.type == type; });
    if (!is_ours && type != kResizePending && type != kResizeInProgress) out.push_back(condition);
  }
  return out;
}

bool has_started_containers(const PodFacts& facts) {
  return std::any_of(facts.containers.begin(), facts.containers.end(),
                     [](const ContainerFacts& c) { return c.run.has_value(); });
}

ConditionFacts ready_to_start(const PodFacts& facts) {
  if (facts.ready_to_start) return {.type = "PodReadyToStartContainers", .holds = true};
  return {.type = "PodReadyToStartContainers",
          .reason = "PodSandboxNotReady",
          .message = facts.ended ? "pod sandbox is not ready" : "no pod sandbox exists"};
}

ConditionFacts initialized(const PodFacts& facts, std::string_view phase) {
  ConditionFacts out{.type = "Initialized", .holds = true};
  if (phase == "Succeeded") {
    out.reason = "PodCompleted";
    return out;
  }
  if (has_started_containers(facts) || is_initialized(facts)) return out;
  std::vector<std::string_view> incomplete;
  for (const ContainerFacts& c : facts.init)
    if (!(c.sidecar ? c.running() && c.started : c.succeeded())) incomplete.push_back(c.name);
  out.holds = false;
  out.reason = "ContainersNotInitialized";
  out.message = fmt::format("containers with incomplete status: [{}]", fmt::join(incomplete, " "));
  return out;
}

ConditionFacts containers_ready(const PodFacts& facts, std::string_view phase) {
  ConditionFacts out{.type = "ContainersReady"};
  if (phase == "Succeeded" || phase == "Failed") {
    out.reason = phase == "Succeeded" ? "PodCompleted" : "PodFailed";
    return out;
  }
  std::vector<std::string_view> unready;
  for (const ContainerFacts& c : facts.init)
    if (c.sidecar && !(c.running() && c.ready)) unready.push_back(c.name);
  for (const ContainerFacts& c : facts.containers)
    if (!(c.running() && c.ready)) unready.push_back(c.name);
  out.holds = unready.empty();
  if (out.holds) return out;
  out.reason = "ContainersNotReady";
  out.message = fmt::format("containers with unready status: [{}]", fmt::join(unready, " "));
  return out;
}

ConditionFacts ready(const json::value& pod, ConditionFacts containers) {
  containers.type = "Ready";
  if (!containers.holds) return containers;
  std::vector<std::string> missing;
  for (const json::value& gate : kube::list_at(pod, "Pod.spec.readinessGates")) {
    const std::string_view type = kube::text_at(gate, "PodReadinessGate.conditionType");
    const json::value* condition = find_condition(pod, type);
    if (condition == nullptr)
      missing.push_back(fmt::format(
          "corresponding condition of pod readiness gate \"{}\" does not exist.", type));
    else if (kube::text_at(*condition, "PodCondition.status") != "True")
      missing.push_back(
          fmt::format("the status of pod readiness gate \"{}\" is not \"True\", but {}", type,
                      kube::text_at(*condition, "PodCondition.status")));
  }
  if (missing.empty()) return containers;
  containers.holds = false;
  containers.reason = "ReadinessGatesNotReady";
  containers.message = fmt::format("{}", fmt::join(missing, ", "));
  return containers;
}

json::value terminated_state(const RunFacts& run) {
  json::object out{{"exitCode", run.exit_code}};
  if (run.signal != 0) out["signal"] = run.signal;
  out["reason"] = run.reason;
  if (!run.message.empty()) out["message"] = run.message;
  // A container that never ran has no start time: a kubelet shows containerd's zero time, the
  // epoch.
  out["startedAt"] = format_rfc3339(run.reason == "StartError" ? WallTime{} : run.started);
  out["finishedAt"] = format_rfc3339(run.finished.value_or(run.started));
  out["containerID"] = "containerd://" + run.id;
  return json::object{{"terminated", std::move(out)}};
}

json::value waiting_state(std::string_view reason, std::string_view message) {
  json::object out{{"reason", reason}};
  if (!message.empty()) out["message"] = message;
  return json::object{{"waiting", std::move(out)}};
}

json::value container_status(const ContainerFacts& facts, bool is_init,
                             std::string_view default_wait) {
  const bool running = facts.running();
  const bool waits = !facts.run || (!running && !facts.waiting_reason.empty());
  json::object out{{"name", facts.name}};
  if (running) {
    out["state"] =
        json::object{{"running", json::object{{"startedAt", format_rfc3339(facts.run->started)}}}};
  } else if (waits) {
    out["state"] = waiting_state(
        facts.waiting_reason.empty() ? default_wait : std::string_view(facts.waiting_reason),
        facts.waiting_message);
  } else {
    out["state"] = terminated_state(*facts.run);
  }
  const std::optional<RunFacts>& before = facts.run && waits ? facts.run : facts.last;
  out["lastState"] = before ? terminated_state(*before) : json::value(json::object());
  const bool init_done = is_init && !facts.sidecar && facts.succeeded();
  out["ready"] = init_done || (running && facts.ready && (!is_init || facts.sidecar));
  out["restartCount"] = facts.run ? facts.run->restart : 0;
  out["image"] = facts.image;
  out["imageID"] = facts.image_id;
  if (facts.run) out["containerID"] = "containerd://" + facts.run->id;
  out["started"] = running && facts.started;
  return out;
}

// Running containers show what they have, the others what they will get.
void show_resources(const PodFacts& pod, const ContainerFacts& facts, json::object& status) {
  const json::value* allocated = pod.allocated.if_contains(facts.name);
  if (allocated == nullptr) return;
  const json::value* actuated = pod.actuated.if_contains(facts.name);
  status["resources"] = facts.running() && actuated != nullptr ? *actuated : *allocated;
  const json::value* requests = find(*allocated, {"requests"});
  if (requests != nullptr && requests->is_object() && !requests->get_object().empty())
    status["allocatedResources"] = *requests;
}

json::array container_statuses(const PodFacts& pod, const std::vector<ContainerFacts>& list,
                               bool is_init, std::string_view default_wait) {
  json::array out;
  for (const ContainerFacts& facts : list) {
    json::value status = container_status(facts, is_init, default_wait);
    show_resources(pod, facts, status.as_object());
    out.push_back(std::move(status));
  }
  return out;
}

}  // namespace

bool is_initialized(const PodFacts& facts) {
  return std::all_of(facts.init.begin(), facts.init.end(), [](const ContainerFacts& c) {
    return c.sidecar ? c.run.has_value() && c.started : c.succeeded();
  });
}

std::string_view phase_of(RestartPolicy policy, const PodFacts& facts) {
  if (facts.failure) return "Failed";
  const bool started = has_started_containers(facts);
  for (const ContainerFacts& c : facts.init)
    if (!c.sidecar && c.ended() && c.run->failed() && policy == RestartPolicy::never)
      return "Failed";
  if (!started && !is_initialized(facts)) return facts.ended ? "Failed" : "Pending";
  std::size_t waiting = 0, running = 0, stopped = 0, succeeded = 0;
  for (const ContainerFacts& c : facts.containers) {
    if (c.running()) {
      ++running;
    } else if (c.run) {
      ++stopped;
      if (c.succeeded()) ++succeeded;
    } else {
      ++waiting;
    }
  }
  const bool sidecars_run = std::any_of(facts.init.begin(), facts.init.end(),
                                        [](const auto& c) { return c.sidecar && c.running(); });
  if (facts.ended) return waiting == 0 && stopped == succeeded ? "Succeeded" : "Failed";
  if (waiting > 0) return "Pending";
  const bool restarts = std::any_of(facts.containers.begin(), facts.containers.end(),
                                    [](const auto& c) { return c.restarts_for_resize; });
  if (running > 0 || sidecars_run || restarts || policy == RestartPolicy::always) return "Running";
  if (stopped == succeeded) return "Succeeded";
  return policy == RestartPolicy::never ? "Failed" : "Running";
}

json::value make_pod_status(const json::value& pod, const PodFacts& facts, WallTime now) {
  const std::string_view phase = phase_of(restart_policy_of(pod), facts);
  const ConditionFacts containers = containers_ready(facts, phase);
  const std::vector<ConditionFacts> conditions{ready_to_start(facts),
                                               initialized(facts, phase),
                                               ready(pod, containers),
                                               containers,
                                               {.type = "PodScheduled", .holds = true}};
  json::array shown;
  if (phase != "Succeeded" && phase != "Failed") {
    add_resize_condition(kResizePending, facts.resize_pending, shown);
    add_resize_condition(kResizeInProgress, facts.resize_in_progress, shown);
  }
  json::array merged = merge_conditions(pod, conditions, now);
  for (json::value& condition : merged) shown.push_back(std::move(condition));
  json::object out{{"phase", phase}, {"conditions", std::move(shown)}};
  if (const auto generation = kube::int_at(pod, "Pod.metadata.generation"))
    out["observedGeneration"] = *generation;
  if (!facts.host_ip.empty()) {
    out["hostIP"] = facts.host_ip;
    out["hostIPs"] = json::array{json::object{{"ip", facts.host_ip}}};
  }
  if (!facts.pod_ip.empty()) {
    out["podIP"] = facts.pod_ip;
    out["podIPs"] = json::array{json::object{{"ip", facts.pod_ip}}};
  }
  if (facts.start_time) out["startTime"] = format_rfc3339(*facts.start_time);
  if (facts.failure) {
    out["reason"] = facts.failure->reason;
    if (!facts.failure->message.empty()) out["message"] = facts.failure->message;
  }
  const std::string_view wait = facts.init.empty() ? "ContainerCreating" : "PodInitializing";
  if (!facts.init.empty())
    out["initContainerStatuses"] = container_statuses(facts, facts.init, true, wait);
  out["containerStatuses"] = container_statuses(facts, facts.containers, false, wait);
  return out;
}

json::value make_rejected_status(const json::value& pod, const PodFailure& why, WallTime now) {
  json::object out{{"phase", "Failed"},
                   {"reason", why.reason},
                   {"message", "Pod was rejected: " + why.message},
                   {"startTime", format_rfc3339(now)}};
  const std::vector<ConditionFacts> conditions{{.type = "PodScheduled", .holds = true}};
  out["conditions"] = merge_conditions(pod, conditions, now);
  return out;
}

}  // namespace plim::local::kubelet
