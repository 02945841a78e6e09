#include "local/sim/sim_pod.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/duration.hpp"
#include "base/quantity.hpp"
#include "base/rfc3339.hpp"
#include "base/text.hpp"
#include "kube/paths.hpp"
#include "net/x509.hpp"

namespace plim::local::sim {
namespace {

using kube::ContainerStatus;
using kube::Pod;

constexpr Nanos kJobPodRuns = std::chrono::seconds(1);  // without an annotation
constexpr Nanos kFirstBackoff = std::chrono::seconds(10);
constexpr Nanos kLongestBackoff = std::chrono::seconds(300);

std::string_view annotation(const Pod& pod, std::string_view key) {
  for (const auto& [name, value] : pod.meta.annotations)
    if (name.view() == key) return value;
  return {};
}

bool belongs_to_job(const Pod& pod) {
  return std::ranges::any_of(pod.meta.owners, [](const kube::Owner& owner) {
    return owner.controller && owner.kind.view() == "Job";
  });
}

// The first restart is immediate; the delay before later ones doubles.
Nanos backoff_after(std::int32_t restarts) {
  if (restarts == 0) return Nanos::zero();
  const int doublings = std::min(restarts - 1, 5);
  return std::min(kLongestBackoff, kFirstBackoff * (1 << doublings));
}

bool restarts_after(const Pod& pod, int exit_code) {
  const std::string_view policy = pod.spec.restart_policy.view();
  return policy == "Always" || policy.empty() || (policy == "OnFailure" && exit_code != 0);
}

json::object condition(std::string_view type, bool holds, const std::string& since,
                       std::string_view reason = "") {
  json::object out{{"type", type},
                   {"status", holds ? "True" : "False"},
                   {"lastProbeTime", nullptr},
                   {"lastTransitionTime", since}};
  if (!reason.empty()) out["reason"] = reason;
  return out;
}

std::string time_text(std::optional<WallTime> time, WallTime otherwise) {
  return format_rfc3339(time.value_or(otherwise));
}

struct Readiness {
  bool initialized = true, ready = false;
  std::string_view reason = {};  // of false conditions
};

json::array conditions(const Pod& pod, Readiness is, WallTime now) {
  const std::string time = format_rfc3339(now);
  auto since = [&](std::string_view type, bool holds) {
    for (const kube::Condition& old : pod.status.conditions)
      if (old.type.view() == type && (old.status.view() == "True") == holds)
        return time_text(old.last_transition, now);
    return std::string(time);
  };
  auto one = [&](std::string_view type, bool holds, std::string_view reason = "") {
    return condition(type, holds, since(type, holds), holds ? std::string_view() : reason);
  };
  json::array out{one("PodReadyToStartContainers", true),
                  one("Initialized", is.initialized, is.reason), one("Ready", is.ready, is.reason),
                  one("ContainersReady", is.ready, is.reason), one("PodScheduled", true)};
  return out;
}

std::string container_id(const Pod& pod, std::string_view container, std::int32_t restarts) {
  return "containerd://" +
         net::sha256_hex(fmt::format("{}/{}/{}", pod.meta.uid, container, restarts));
}

const ContainerStatus* find_status(const Pod& pod, std::string_view name) {
  for (const ContainerStatus& status : pod.status.containers)
    if (status.name.view() == name) return &status;
  return nullptr;
}

json::object running(const std::string& since) {
  return {{"running", json::object{{"startedAt", since}}}};
}

json::object terminated(int exit_code, const std::string& started, const std::string& finished,
                        const std::string& id) {
  return {{"terminated", json::object{{"exitCode", exit_code},
                                      {"reason", exit_code == 0 ? "Completed" : "Error"},
                                      {"startedAt", started},
                                      {"finishedAt", finished},
                                      {"containerID", id}}}};
}

struct ContainerLook {
  json::object state, last_state = {};
  std::int32_t restarts = 0;
  bool ready = false, started = false;
  std::string id = {};
};

json::object amounts(const kube::ResourceList& list) {
  json::object out;
  for (const auto& [name, amount] : list) out[name.view()] = amount.view();
  return out;
}

// Simulated nodes have no cgroups: a container has what its spec asks for at once.
void show_resources(const kube::Container& container, json::object& status) {
  json::object resources;
  if (!container.limits.empty()) resources["limits"] = amounts(container.limits);
  if (!container.requests.empty()) resources["requests"] = amounts(container.requests);
  status["resources"] = std::move(resources);
  if (!container.requests.empty()) status["allocatedResources"] = amounts(container.requests);
}

json::object container_json(const kube::Container& container, ContainerLook look) {
  const std::string_view image = container.image.view();
  json::object out{{"name", container.name.view()},
                   {"state", std::move(look.state)},
                   {"lastState", std::move(look.last_state)},
                   {"ready", look.ready},
                   {"restartCount", look.restarts},
                   {"image", image},
                   {"imageID", look.id.empty() ? "" : "sha256:" + net::sha256_hex(image)},
                   {"started", look.started}};
  if (!look.id.empty()) out["containerID"] = look.id;
  show_resources(container, out);
  return out;
}

json::value patch_of(const Pod& pod, json::object status) {
  return json::object{{"metadata", json::object{{"uid", pod.meta.uid}}},
                      {"status", std::move(status)}};
}

void add_place(json::object& status, const PodPlace& place) {
  status["hostIP"] = place.host_ip;
  status["hostIPs"] = json::array{json::object{{"ip", place.host_ip}}};
  status["podIP"] = place.pod_ip;
  status["podIPs"] = json::array{json::object{{"ip", place.pod_ip}}};
}

// Containers that end have ended; sidecars run.
json::array init_statuses(const Pod& pod, const std::string& time) {
  json::array out;
  for (const kube::Container& container : pod.spec.init_containers) {
    const bool sidecar = container.restart_policy.view() == "Always";
    ContainerLook look{
        .state = {}, .ready = true, .started = sidecar, .id = container_id(pod, container.name, 0)};
    look.state = sidecar ? running(time) : terminated(0, time, time, look.id);
    out.push_back(container_json(container, std::move(look)));
  }
  return out;
}

}  // namespace

SimWish wish_of(const Pod& pod) {
  SimWish out;
  auto duration = [&](std::string_view key) -> std::optional<Nanos> {
    auto parsed = parse_duration(annotation(pod, key));
    if (!parsed || *parsed < Nanos::zero()) return std::nullopt;
    return *parsed;
  };
  auto amount = [&](std::string_view key) {
    return parse_quantity(annotation(pod, key)).value_or(Quantity());
  };
  out.start_delay = duration("plimsoll.io/sim-start-delay").value_or(Nanos::zero());
  out.duration = duration("plimsoll.io/sim-duration");
  if (!out.duration && belongs_to_job(pod)) out.duration = kJobPodRuns;
  out.exit_code =
      std::clamp(parse_int<int>(annotation(pod, "plimsoll.io/sim-exit-code")).value_or(0), 0, 255);
  out.milli_cpu = amount("plimsoll.io/sim-cpu").milli_value();
  out.memory_bytes = amount("plimsoll.io/sim-memory").value();
  return out;
}

NextStep next_step(const Pod& pod, const SimWish& wish, WallTime now) {
  if (pod.meta.deleted) return {PodStep::remove, Nanos::zero()};
  const std::string_view phase = pod.status.phase.view();
  if (phase.empty() || phase == "Pending") {
    // Counted from the first status on this node, so that a restart of the simulation changes
    // nothing.
    const Nanos passed =
        pod.status.started ? std::max(Nanos::zero(), now - *pod.status.started) : Nanos::zero();
    return {PodStep::start, std::max(Nanos::zero(), wish.start_delay - passed)};
  }
  if (phase != "Running") return {};
  if (is_thought_silent(pod)) return {PodStep::recover, Nanos::zero()};
  for (const ContainerStatus& status : pod.status.containers) {
    if (status.state == ContainerStatus::State::waiting) {
      const WallTime ended = status.last_terminated.finished.value_or(now);
      return {PodStep::restart,
              std::max(Nanos::zero(), ended + backoff_after(status.restarts) - now)};
    }
    if (status.state == ContainerStatus::State::running && wish.duration) {
      const WallTime began = status.running_since.value_or(now);
      return {PodStep::finish, std::max(Nanos::zero(), began + *wish.duration - now)};
    }
  }
  return {};
}

bool is_thought_silent(const Pod& pod) {
  return std::ranges::any_of(pod.status.conditions, [](const kube::Condition& condition) {
    return condition.type.view() == "Ready" && condition.reason.view() == "NodeNotReady";
  });
}

json::value creating_status(const Pod& pod, const PodPlace& place, WallTime now,
                            std::string_view waiting_for, std::string_view message) {
  const bool init = !pod.spec.init_containers.empty();
  auto waiting = [&](const kube::Container& container, std::string_view reason) {
    json::object inner{{"reason", reason}};
    if (!message.empty()) inner["message"] = message;
    ContainerLook look{.state = json::object{{"waiting", std::move(inner)}}};
    return container_json(container, std::move(look));
  };
  json::array statuses;
  for (const kube::Container& container : pod.spec.containers)
    statuses.push_back(waiting(container, init ? "PodInitializing" : waiting_for));
  Readiness is{.initialized = !init,
               .ready = false,
               .reason = init ? "ContainersNotInitialized" : "ContainersNotReady"};
  json::object status{{"phase", "Pending"},
                      {"conditions", conditions(pod, is, now)},
                      {"startTime", time_text(pod.status.started, now)},
                      {"containerStatuses", std::move(statuses)}};
  if (init) {
    json::array first;
    for (const kube::Container& container : pod.spec.init_containers)
      first.push_back(waiting(container, waiting_for));
    status["initContainerStatuses"] = std::move(first);
  }
  status["hostIP"] = place.host_ip;
  status["hostIPs"] = json::array{json::object{{"ip", place.host_ip}}};
  return patch_of(pod, std::move(status));
}

json::value running_status(const Pod& pod, const PodPlace& place, WallTime now) {
  const std::string time = format_rfc3339(now);
  json::array statuses;
  for (const kube::Container& container : pod.spec.containers) {
    ContainerLook look{.state = running(time),
                       .ready = true,
                       .started = true,
                       .id = container_id(pod, container.name, 0)};
    statuses.push_back(container_json(container, std::move(look)));
  }
  json::object status{{"phase", "Running"},
                      {"conditions", conditions(pod, {.ready = true}, now)},
                      {"startTime", time_text(pod.status.started, now)},
                      {"containerStatuses", std::move(statuses)}};
  if (!pod.spec.init_containers.empty()) status["initContainerStatuses"] = init_statuses(pod, time);
  add_place(status, place);
  return patch_of(pod, std::move(status));
}

json::value finished_status(const Pod& pod, const SimWish& wish, WallTime now) {
  const std::string time = format_rfc3339(now);
  const bool again = restarts_after(pod, wish.exit_code);
  bool waits = false;
  json::array statuses;
  for (const kube::Container& container : pod.spec.containers) {
    const ContainerStatus* old = find_status(pod, container.name);
    const std::int32_t restarts = old ? old->restarts : 0;
    const std::string began = old ? time_text(old->running_since, now) : time;
    std::string id = container_id(pod, container.name, restarts);
    json::object end = terminated(wish.exit_code, began, time, id);
    ContainerLook look{.state = {}, .restarts = restarts, .id = std::move(id)};
    if (!again) {
      look.state = std::move(end);
    } else if (backoff_after(restarts) == Nanos::zero()) {
      look = {.state = running(time),
              .last_state = std::move(end),
              .restarts = restarts + 1,
              .ready = true,
              .started = true,
              .id = container_id(pod, container.name, restarts + 1)};
    } else {
      waits = true;
      look.last_state = std::move(end);
      look.state = {{"waiting", json::object{{"reason", "CrashLoopBackOff"}}}};
    }
    statuses.push_back(container_json(container, std::move(look)));
  }
  json::object status{{"containerStatuses", std::move(statuses)}};
  if (!again) {
    const bool good = wish.exit_code == 0;
    status["phase"] = good ? "Succeeded" : "Failed";
    Readiness is{.reason = good ? "PodCompleted" : "PodFailed"};
    status["conditions"] = conditions(pod, is, now);
  } else {
    Readiness is{.ready = !waits, .reason = "ContainersNotReady"};
    status["conditions"] = conditions(pod, is, now);
  }
  return patch_of(pod, std::move(status));
}

json::value restarted_status(const Pod& pod, WallTime now) {
  const std::string time = format_rfc3339(now);
  json::array statuses;
  for (const kube::Container& container : pod.spec.containers) {
    const ContainerStatus* old = find_status(pod, container.name);
    const std::int32_t restarts = (old ? old->restarts : 0) + 1;
    ContainerLook look{.state = running(time),
                       .restarts = restarts,
                       .ready = true,
                       .started = true,
                       .id = container_id(pod, container.name, restarts)};
    if (old) {
      const ContainerStatus::Ended& end = old->last_terminated;
      look.last_state =
          terminated(end.exit_code, time_text(end.started, now), time_text(end.finished, now),
                     container_id(pod, container.name, restarts - 1));
    }
    statuses.push_back(container_json(container, std::move(look)));
  }
  json::object status{{"containerStatuses", std::move(statuses)},
                      {"conditions", conditions(pod, {.ready = true}, now)}};
  return patch_of(pod, std::move(status));
}

json::value resized_status(const Pod& pod, WallTime now) {
  json::array statuses;
  for (const kube::Container& container : pod.spec.containers) {
    const ContainerStatus* old = find_status(pod, container.name);
    const std::int32_t restarts = old ? old->restarts : 0;
    const bool runs = old != nullptr && old->state == ContainerStatus::State::running;
    ContainerLook look{.state = {},
                       .restarts = restarts,
                       .ready = runs,
                       .started = runs,
                       .id = container_id(pod, container.name, restarts)};
    if (runs)
      look.state = running(time_text(old->running_since, now));
    else
      look.state = {{"waiting", json::object{{"reason", "CrashLoopBackOff"}}}};
    if (old != nullptr && old->last_terminated.finished) {
      const ContainerStatus::Ended& end = old->last_terminated;
      look.last_state =
          terminated(end.exit_code, time_text(end.started, now), time_text(end.finished, now),
                     container_id(pod, container.name, restarts - (runs ? 1 : 0)));
    }
    statuses.push_back(container_json(container, std::move(look)));
  }
  json::object status{{"containerStatuses", std::move(statuses)},
                      {"observedGeneration", pod.meta.generation}};
  if (!pod.spec.init_containers.empty())
    status["initContainerStatuses"] = init_statuses(pod, time_text(pod.status.started, now));
  return patch_of(pod, std::move(status));
}

json::value recovered_status(const Pod& pod, WallTime now) {
  json::value patch = patch_of(pod, {{"conditions", conditions(pod, {.ready = true}, now)}});
  // The version makes this fail if the end of the pod was written meanwhile.
  kube::make_object(patch, "Pod.metadata")["resourceVersion"] = pod.meta.resource_version;
  return patch;
}

}  // namespace plim::local::sim
