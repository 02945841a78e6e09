#include "servo/job.hpp"

#include <fmt/format.h>

#include "base/rfc3339.hpp"
#include "base/text.hpp"
#include "kube/object.hpp"
#include "kube/paths.hpp"

namespace plim::servo {
namespace {

using loop::RunRecord;

constexpr std::string_view kJobAnnotation = "plimsoll.io/job";
constexpr std::string_view kMeasureAnnotation = "plimsoll.io/measure";
constexpr std::string_view kDecisionAnnotation = "plimsoll.io/decision";
constexpr std::string_view kEstimateAnnotation = "done-at";
constexpr std::string_view kMirrorAnnotation = "kubernetes.io/config.mirror";
constexpr std::size_t kLongestMessage = 1024;

std::optional<WallTime> time_at(const json::value& value, kube::TimePath path) {
  auto time = parse_rfc3339(kube::text_at(value, path));
  if (!time) return {};
  return *time;
}

// If a start fails, containerd reports the epoch as startedAt: such a container never ran.
std::optional<WallTime> start_at(const json::value& terminated) {
  auto time = time_at(terminated, "ContainerStateTerminated.startedAt");
  if (time && *time <= WallTime{}) return {};
  return time;
}

// Cuts the text to this many bytes, between characters.
void shorten(std::string& text) {
  if (text.size() <= kLongestMessage) return;
  std::size_t end = kLongestMessage;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
}

const json::value* named(const json::value* list, std::string_view name) {
  if (list == nullptr || !list->is_array()) return nullptr;
  for (const json::value& item : list->get_array())
    if (text_at(item, {"name"}) == name) return &item;
  return nullptr;
}

const json::value* measured_container(const json::value& pod, const std::string& rule) {
  const json::value* list = kube::find(pod, "Pod.spec.containers");
  if (list == nullptr || !list->is_array()) return nullptr;
  std::string_view wanted = kube::annotation_of(pod, kMeasureAnnotation);
  if (!wanted.empty()) return named(list, wanted);
  if (auto index = parse_int<std::size_t>(rule)) {
    const json::array& items = list->get_array();
    return *index < items.size() && !kube::text_at(items[*index], "Container.name").empty()
               ? &items[*index]
               : nullptr;
  }
  return named(list, rule);
}

// A pod with "Always" is a service, and its restarts are not runs, unless its annotation says so.
bool may_be_job(const json::value& pod) {
  if (kube::annotation_of(pod, kJobAnnotation) == "false") return false;
  if (const json::value* annotations = kube::find(pod, "Pod.metadata.annotations"))
    if (annotations->is_object() && annotations->get_object().contains(kMirrorAnnotation))
      return false;
  const std::string_view policy = kube::text_at(pod, "Pod.spec.restartPolicy");
  return policy == "Never" || policy == "OnFailure" ||
         kube::annotation_of(pod, kJobAnnotation) == "true";
}

std::optional<std::int64_t> missing_bytes(const json::value& pod) {
  const std::string_view text = kube::annotation_of(pod, kDecisionAnnotation);
  if (text.empty()) return {};
  auto decision = parse_json(text);
  if (!decision) return {};
  return int_at(*decision, {"missingBytes"});
}

RunRecord identity(const json::value& pod, const json::value& container, WallTime now) {
  RunRecord out;
  out.uid = kube::uid_of(pod);
  out.container = kube::text_at(container, "Container.name");
  out.ns = kube::namespace_of(pod);
  out.pod = kube::name_of(pod);
  out.node = kube::text_at(pod, "Pod.spec.nodeName");
  out.image = kube::text_at(container, "Container.image");
  out.created = time_at(pod, "Pod.metadata.creationTimestamp");
  out.pod_started = time_at(pod, "Pod.status.startTime");
  if (const json::value* resources = kube::find(container, "Container.resources"))
    if (resources->is_object()) out.resources = *resources;
  const auto done_at = parse_int<std::int64_t>(kube::annotation_of(pod, kEstimateAnnotation));
  if (done_at && out.created) {
    const auto created = std::chrono::floor<std::chrono::seconds>(*out.created);
    std::int64_t estimate = 0;
    if (!__builtin_sub_overflow(*done_at, created.time_since_epoch().count(), &estimate))
      out.estimate = estimate;
  }
  out.missing_bytes = missing_bytes(pod);
  out.observed = now;
  return out;
}

// Sets the result of a run from `terminated`. Without valid times the container never ran.
RunRecord ended_run(RunRecord run, const json::value& terminated) {
  run.started = start_at(terminated);
  run.finished = time_at(terminated, "ContainerStateTerminated.finishedAt");
  run.exit_code = kube::int_at(terminated, "ContainerStateTerminated.exitCode");
  run.reason = kube::text_at(terminated, "ContainerStateTerminated.reason");
  if (run.started && run.finished) {
    run.clock_stepped = *run.finished < *run.started;
    return run;
  }
  run.result = RunRecord::Result::failed;
  const std::string_view text = kube::text_at(terminated, "ContainerStateTerminated.message");
  run.message = fmt::format("the container did not run: no valid {}{}{}",
                            run.started ? "finishedAt" : "startedAt",
                            run.reason.empty() ? "" : fmt::format(", {}", run.reason),
                            text.empty() ? "" : fmt::format(": {}", text));
  shorten(run.message);
  return run;
}

// The reason if an init container failed, so that the containers never started; else "".
std::string failed_init(const json::value& pod) {
  for (const json::value& status : kube::list_at(pod, "Pod.status.initContainerStatuses"))
    if (auto code = kube::int_at(status, "ContainerStatus.state.terminated.exitCode");
        code && *code != 0)
      return fmt::format("init container {} ended with exit code {}",
                         kube::text_at(status, "ContainerStatus.name"), *code);
  return {};
}

RunRecord lost_run(RunRecord run, const json::value& pod) {
  run.result = RunRecord::Result::failed;
  run.reason = kube::text_at(pod, "Pod.status.reason");
  std::string why = run.reason.empty() ? failed_init(pod) : run.reason;
  if (why.empty()) why = "Failed";
  const std::string_view text = kube::text_at(pod, "Pod.status.message");
  run.message = fmt::format("the pod failed: {}{}{}", why, text.empty() ? "" : ": ", text);
  shorten(run.message);
  return run;
}

// Whether the run is over: the kubelet does not restart the container for the same run.
bool is_final(const json::value& pod, const json::value& terminated, Seen seen) {
  if (kube::text_at(pod, "Pod.spec.restartPolicy") != "OnFailure") return true;
  return seen == Seen::deleted ||
         kube::int_at(terminated, "ContainerStateTerminated.exitCode") == 0 ||
         kube::text_at(pod, "Pod.status.phase") == "Failed";
}

}  // namespace

JobFinding find_job(const json::value& pod, std::string_view ns, const JobRules& rules) {
  JobFinding out;
  if (!rules.namespaces.contains(ns) || !may_be_job(pod)) return out;
  loop::AppIdLookup id = rules.app_id.find(pod);
  if (!id.found()) {
    out.miss = name_of(id.miss);
    return out;
  }
  out.container = measured_container(pod, rules.container);
  if (out.container == nullptr) out.miss = "container";
  out.app = std::move(id.id);
  return out;
}

Sighting look_at(const json::value& pod, const JobRules& rules, Seen seen, WallTime now) {
  Sighting out;
  if (kube::uid_of(pod).empty()) return out;
  JobFinding job = find_job(pod, kube::namespace_of(pod), rules);
  if (job.container == nullptr) {
    out.miss = job.miss;
    return out;
  }
  out.is_job = true;
  RunRecord run = identity(pod, *job.container, now);
  run.app = std::move(job.app);

  // By name, because the statuses have another order than the containers.
  const json::value* status = named(kube::find(pod, "Pod.status.containerStatuses"), run.container);
  static const json::value kNone;
  const json::value& known = status != nullptr ? *status : kNone;
  run.restarts = kube::int_at(known, "ContainerStatus.restartCount").value_or(0);

  // A service that counts as a job restarts at once: its last run may be visible only here.
  const json::value* before = kube::find(known, "ContainerStatus.lastState.terminated");
  if (before != nullptr && before->is_object() && run.restarts > 0 &&
      kube::text_at(pod, "Pod.spec.restartPolicy") == "Always") {
    RunRecord previous = run;
    --previous.restarts;
    out.ended.push_back(ended_run(std::move(previous), *before));
  }
  const json::value* terminated = kube::find(known, "ContainerStatus.state.terminated");
  const bool has_ended = terminated != nullptr && terminated->is_object();
  if (has_ended && is_final(pod, *terminated, seen)) {
    out.ended.push_back(ended_run(std::move(run), *terminated));
  } else if (!has_ended && kube::text_at(pod, "Pod.status.phase") == "Failed") {
    out.ended.push_back(lost_run(std::move(run), pod));
  } else {
    run.result = RunRecord::Result::deleted;
    run.started = time_at(known, "ContainerStatus.state.running.startedAt");
    out.open = std::move(run);
  }
  return out;
}

}  // namespace plim::servo
