// Pods. The status that kubectl shows is derived from phase, reasons and all containers.
#include <optional>

#include <fmt/format.h>

#include "base/rfc3339.hpp"
#include "local/apiserver/table/cells.hpp"
#include "local/apiserver/table/views.hpp"

namespace plim::local::apiserver {
namespace {

using namespace cells;

constexpr TableColumn kPodColumns[] = {
    kName,
    {.name = "Ready", .description = "Containers that are ready, of all that should be"},
    {.name = "Status", .description = "What the pod is doing, or why it cannot"},
    {.name = "Restarts", .description = "How often containers were started again, and when last"},
    kAge,
    {.name = "IP", .description = "First address of the pod", .priority = 1},
    {.name = "Node", .description = "Node it was placed on", .priority = 1},
    {.name = "Nominated Node", .description = "Node that is being freed for it", .priority = 1},
    {.name = "Readiness Gates", .description = "Gates passed, of all it has", .priority = 1},
};

struct Summary {
  std::string status;
  std::int64_t ready = 0;
  std::int64_t total = 0;
  std::int64_t restarts = 0;
  std::optional<WallTime> last_restart = {};
};

void count_restarts(const json::value& container, std::int64_t& restarts,
                    std::optional<WallTime>& last) {
  restarts += number(container, "ContainerStatus.restartCount");
  const auto finished =
      parse_rfc3339(kube::text_at(container, "ContainerStatus.lastState.terminated.finishedAt"));
  if (finished && (!last || *last < *finished)) last = *finished;
}

std::string exit_text(const json::value& terminated) {
  if (const std::string reason = text(terminated, "ContainerStateTerminated.reason");
      !reason.empty())
    return reason;
  if (const std::int64_t signal = number(terminated, "ContainerStateTerminated.signal");
      signal != 0)
    return fmt::format("Signal:{}", signal);
  return fmt::format("ExitCode:{}", number(terminated, "ContainerStateTerminated.exitCode"));
}

// A sidecar is an init container that keeps running.
bool is_sidecar(const json::value& pod, std::string_view container) {
  for (const json::value& candidate : list(pod, "Pod.spec.initContainers"))
    if (kube::text_at(candidate, "Container.name") == container)
      return kube::text_at(candidate, "Container.restartPolicy") == "Always";
  return false;
}

// The status of a pod whose init container is not done yet.
std::string init_status(const json::value& pod, const json::value& container, std::size_t place) {
  if (const json::value* terminated = kube::find(container, "ContainerStatus.state.terminated"))
    return "Init:" + exit_text(*terminated);
  const std::string waiting = text(container, "ContainerStatus.state.waiting.reason");
  if (!waiting.empty() && waiting != "PodInitializing") return "Init:" + waiting;
  return fmt::format("Init:{}/{}", place, list(pod, "Pod.spec.initContainers").size());
}

// True while an init container blocks the pod. Restarts of finished ones are counted only then;
// afterwards only `sidecars` count.
bool read_init_containers(const json::value& pod, Summary& all, Summary& sidecars) {
  const json::array& containers = list(pod, "Pod.status.initContainerStatuses");
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const json::value& container = containers[i];
    const bool sidecar = is_sidecar(pod, kube::text_at(container, "ContainerStatus.name"));
    count_restarts(container, all.restarts, all.last_restart);
    if (sidecar) count_restarts(container, sidecars.restarts, sidecars.last_restart);
    const json::value* terminated = kube::find(container, "ContainerStatus.state.terminated");
    if (terminated && number(*terminated, "ContainerStateTerminated.exitCode") == 0) continue;
    if (sidecar && kube::bool_at(container, "ContainerStatus.started")) {
      if (kube::bool_at(container, "ContainerStatus.ready")) ++all.ready;
      continue;
    }
    all.status = init_status(pod, container, i);
    return true;
  }
  return false;
}

void read_containers(const json::value& pod, Summary& summary) {
  bool some_run = false;
  const json::array& containers = list(pod, "Pod.status.containerStatuses");
  // From last to first, so that the first container with a reason wins.
  for (std::size_t i = containers.size(); i-- > 0;) {
    const json::value& container = containers[i];
    count_restarts(container, summary.restarts, summary.last_restart);
    const json::value* terminated = kube::find(container, "ContainerStatus.state.terminated");
    if (std::string waiting = text(container, "ContainerStatus.state.waiting.reason");
        !waiting.empty()) {
      summary.status = std::move(waiting);
    } else if (terminated) {
      summary.status = exit_text(*terminated);
    } else if (kube::bool_at(container, "ContainerStatus.ready") &&
               kube::find(container, "ContainerStatus.state.running")) {
      some_run = true;
      ++summary.ready;
    }
  }
  if (summary.status == "Completed" && some_run)
    summary.status = is_true(pod, "Ready") ? "Running" : "NotReady";
}

Summary summarize(const json::value& pod) {
  const std::string phase = text(pod, "Pod.status.phase");
  Summary out;
  out.status = text(pod, "Pod.status.reason", phase);
  const json::value* scheduled = condition(pod, "PodScheduled");
  if (scheduled && kube::text_at(*scheduled, "PodCondition.reason") == "SchedulingGated")
    out.status = "SchedulingGated";
  out.total = size(pod, "Pod.spec.containers");
  for (const json::value& container : list(pod, "Pod.spec.initContainers"))
    if (kube::text_at(container, "Container.restartPolicy") == "Always") ++out.total;

  Summary sidecars;
  const bool initializing = read_init_containers(pod, out, sidecars);
  if (!initializing || is_true(pod, "Initialized")) {
    out.restarts = sidecars.restarts;
    out.last_restart = sidecars.last_restart;
    read_containers(pod, out);
  }
  if (kube::find(pod, "Pod.metadata.deletionTimestamp")) {
    if (kube::text_at(pod, "Pod.status.reason") == "NodeLost")
      out.status = "Unknown";
    else if (phase != "Succeeded" && phase != "Failed")
      out.status = "Terminating";
  }
  return out;
}

std::string readiness_gates(const json::value& pod) {
  const json::array& gates = list(pod, "Pod.spec.readinessGates");
  if (gates.empty()) return "<none>";
  int passed = 0;
  for (const json::value& gate : gates)
    if (is_true(pod, kube::text_at(gate, "PodReadinessGate.conditionType"))) ++passed;
  return fmt::format("{}/{}", passed, gates.size());
}

std::string address(const json::value& pod) {
  const json::array& addresses = list(pod, "Pod.status.podIPs");
  return addresses.empty() ? text(pod, "Pod.status.podIP", "<none>")
                           : text(addresses[0], "PodIP.ip", "<none>");
}

json::array pod_cells(const json::value& pod, WallTime now) {
  const Summary summary = summarize(pod);
  std::string restarts = fmt::format("{}", summary.restarts);
  if (summary.restarts != 0 && summary.last_restart)
    restarts += fmt::format(" ({} ago)", human_age(format_rfc3339(*summary.last_restart), now));
  return {name(pod),
          fmt::format("{}/{}", summary.ready, summary.total),
          summary.status,
          restarts,
          age(pod, now),
          address(pod),
          text(pod, "Pod.spec.nodeName", "<none>"),
          text(pod, "Pod.status.nominatedNodeName", "<none>"),
          readiness_gates(pod)};
}

json::array pod_conditions(const json::value& pod) {
  const std::string phase = text(pod, "Pod.status.phase");
  if (phase != "Succeeded" && phase != "Failed") return {};
  const std::string_view message =
      phase == "Failed" ? "The pod failed." : "The pod has completed successfully.";
  return {{{"type", "Completed"}, {"status", "True"}, {"reason", phase}, {"message", message}}};
}

}  // namespace

const TableView kPodView{.columns = kPodColumns, .cells = pod_cells, .conditions = pod_conditions};

}  // namespace plim::local::apiserver
