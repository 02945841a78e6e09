#include "local/kubelet/runtime/pod_reporter.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "kube/object.hpp"
#include "kube/paths.hpp"
#include "local/kubelet/runtime/pod_status.hpp"

namespace plim::local::kubelet {
using namespace std::chrono_literals;

namespace {

bool shows_already(const json::value& pod, const json::value& status) {
  const json::value* now = kube::find(pod, "Pod.status");
  if (now == nullptr || !now->is_object()) return false;
  return std::ranges::all_of(status.as_object(), [&](const auto& member) {
    const json::value* old = now->as_object().if_contains(member.key());
    return old != nullptr && *old == member.value();
  });
}

}  // namespace

void PodReporter::note(std::string_view reason, std::string message, std::string_view container) {
  record(kube::EventNote::Type::normal, reason, std::move(message), container);
}

void PodReporter::warn(std::string_view reason, std::string message, std::string_view container) {
  record(kube::EventNote::Type::warning, reason, std::move(message), container);
}

void PodReporter::record(kube::EventNote::Type type, std::string_view reason, std::string message,
                         std::string_view container) {
  kube::EventNote event;
  event.about = {.api_version = "v1",
                 .kind = "Pod",
                 .ns = std::string(kube::namespace_of(pod_.object)),
                 .name = std::string(kube::name_of(pod_.object)),
                 .uid = pod_.uid,
                 .resource_version = std::string(kube::resource_version_of(pod_.object))};
  if (!container.empty())
    event.about.field_path = fmt::format(
        "spec.{}{{{}}}", pod_.is_init(container) ? "initContainers" : "containers", container);
  event.type = type;
  event.reason = reason;
  event.message = std::move(message);
  pod_.node.events.record(event);
}

Task<void> PodReporter::write_status() {
  for (Nanos wait = 100ms; pod_.wish != PodWish::forget; wait = std::min<Nanos>(wait * 2, 30s)) {
    json::value status = make_pod_status(pod_.object, pod_.facts, pod_.node.clock.wall());
    const bool done = co_await write_once(std::move(status));
    if (done) co_return;
    co_await pod_.node.clock.sleep(wait);
  }
}

Task<void> PodReporter::write_rejection(PodFailure why) {
  warn(why.reason, why.message);
  const json::value status = make_rejected_status(pod_.object, why, pod_.node.clock.wall());
  while (pod_.wish != PodWish::forget) {
    const bool done = co_await write_once(status);
    if (done) co_return;
    co_await pod_.node.clock.sleep(100ms);
  }
}

Task<bool> PodReporter::write_once(json::value status) {
  if (shows_already(pod_.object, status)) co_return true;
  json::object patch{
      {"metadata", json::object{{"uid", pod_.uid},
                                {"resourceVersion", kube::resource_version_of(pod_.object)}}},
      {"status", std::move(status)}};
  kube::ObjectPath path = pod_.path("status");
  auto answer = co_await pod_.node.client->patch(kube::resources::pods, std::move(path),
                                                 kube::PatchType::merge, std::move(patch));
  if (answer) {
    pod_.take(std::move(*answer));
    co_return true;
  }
  if (answer.error().code == Code::not_found) co_return true;  // the informer will report it too
  if (answer.error().code == Code::conflict) co_return co_await look_again();
  log::warn("node", "cannot write a pod's status",
            {{"pod", pod_.full_name()}, {"error", answer.error()}});
  co_return false;
}

// True: the pod is gone, so no status can be written.
Task<bool> PodReporter::look_again() {
  kube::ObjectPath path = pod_.path();
  auto fresh = co_await pod_.node.client->get(kube::resources::pods, std::move(path));
  if (!fresh) co_return fresh.error().code == Code::not_found;
  if (kube::uid_of(*fresh) != pod_.uid) co_return true;
  pod_.take(std::move(*fresh));
  pod_.note_change();
  co_return false;
}

// {"c":[[started, finished],…]} in nanoseconds since the epoch.
Task<void> PodReporter::annotate_runs(std::vector<ContainerRun> runs) {
  json::object times;
  for (const ContainerRun& run : runs) {
    json::value& list = times[run.container];
    if (!list.is_array()) list = json::array();
    list.as_array().push_back({run.started_wall.time_since_epoch().count(),
                               run.finished_wall.time_since_epoch().count()});
  }
  json::object annotations{{"plimsoll.io/run-ns", to_json(times)}};
  json::object patch{
      {"metadata", json::object{{"uid", pod_.uid}, {"annotations", std::move(annotations)}}}};
  kube::ObjectPath path = pod_.path();
  auto answer = co_await pod_.node.client->patch(kube::resources::pods, std::move(path),
                                                 kube::PatchType::merge, std::move(patch));
  if (!answer) co_return;
  pod_.take(std::move(*answer));
  pod_.note_change();
}

Task<void> PodReporter::delete_object() {
  kube::ObjectPath path = pod_.path();
  kube::DeleteOptions options;
  options.grace_seconds = 0;
  options.uid = pod_.uid;
  auto done =
      co_await pod_.node.client->remove(kube::resources::pods, std::move(path), std::move(options));
  if (!done && done.error().code != Code::not_found && done.error().code != Code::conflict)
    log::warn("node", "cannot delete a pod", {{"pod", pod_.full_name()}, {"error", done.error()}});
}

}  // namespace plim::local::kubelet
