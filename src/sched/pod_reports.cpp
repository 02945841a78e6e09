#include "sched/pod_reports.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/rfc3339.hpp"

namespace plim::sched {
namespace {

using namespace std::chrono_literals;

constexpr int kStatusTries = 4;
constexpr Nanos kStatusWait = 200ms;
// Each write has its own connection. If thousands of pods fail at the same time, they must not open
// thousands of connections.
constexpr std::size_t kConditionsAtOnce = 16;

const kube::Condition* scheduled_condition(const kube::Pod& pod) {
  const auto found = std::ranges::find(pod.status.conditions, std::string_view("PodScheduled"),
                                       [](const kube::Condition& c) { return c.type.view(); });
  return found == pod.status.conditions.end() ? nullptr : &*found;
}

SchedulerEvent event_about(const kube::Pod& pod, const std::string& profile) {
  return {.regarding = {.api_version = "v1",
                        .kind = "Pod",
                        .ns = std::string(pod.meta.ns),
                        .name = pod.meta.name,
                        .uid = pod.meta.uid,
                        .resource_version = pod.meta.resource_version},
          .controller = profile,
          .warning = false,
          .reason = {},
          .action = {},
          .note = {}};
}

}  // namespace

SchedulerEvent scheduled_event(const kube::Pod& pod, const std::string& profile,
                               std::string_view node) {
  SchedulerEvent out = event_about(pod, profile);
  out.reason = "Scheduled";
  out.action = "Binding";
  out.note = fmt::format("Successfully assigned {}/{} to {}", pod.meta.ns, pod.meta.name, node);
  out.once = true;
  return out;
}

PodReports::PodReports(const Executor& loop, std::shared_ptr<kube::Client> client,
                       EventWriter& events, const kube::Store<kube::Pod>& pods, Clock& clock)
    : client_(std::move(client)), events_(events), pods_(pods), clock_(clock), tasks_(loop) {}

Task<void> PodReports::stop() {
  co_await tasks_.stop();
}

void PodReports::placed(const kube::Pod& pod, const std::string& profile, std::string_view node) {
  events_.record(scheduled_event(pod, profile, node));
}

void PodReports::warn(const kube::Pod& pod, const std::string& profile, std::string note) {
  SchedulerEvent event = event_about(pod, profile);
  event.warning = true;
  event.reason = "FailedScheduling";
  event.action = "Scheduling";
  event.note = std::move(note);
  events_.record(std::move(event));
}

void PodReports::skipped(const kube::Pod& pod, const std::string& profile) {
  warn(pod, profile, fmt::format("skip schedule deleting pod: {}", kube::object_key(pod.meta)));
}

void PodReports::preempted(const kube::Pod& victim, const kube::Pod& by, const std::string& profile,
                           std::string_view node) {
  SchedulerEvent event = event_about(victim, profile);
  event.related = event_about(by, profile).regarding;
  event.reason = "Preempted";
  event.action = "Preempting";
  event.note = fmt::format("Preempted by pod {} on node {}", by.meta.uid, node);
  events_.record(std::move(event));
}

void PodReports::failed(const PodPointer& pod, const std::string& profile, std::string reason,
                        std::string message, Nomination nomination) {
  warn(*pod, profile, message);
  const PodPointer latest = pods_.find(kube::object_key(pod->meta));
  const kube::Pod& known = latest ? *latest : *pod;
  const kube::Condition* condition = scheduled_condition(known);
  // Without a nomination there is nothing to remove.
  if (nomination == "" && known.status.nominated_node.empty() && !writing_.contains(pod->meta.uid))
    nomination.reset();
  if (!nomination && condition != nullptr && condition->status == "False" &&
      condition->reason == reason && condition->message == message)
    return;
  Reason why{pod, std::move(reason), std::move(message), std::move(nomination)};
  auto [place, is_first] = writing_.try_emplace(pod->meta.uid);
  Writing& writing = place->second;
  if (is_first) {
    writing = {why.reason, why.message, std::move(why)};
    in_line_.push_back(pod->meta.uid);
    begin_writing();
    return;
  }
  if (!writing.next && !why.nomination && writing.reason == why.reason &&
      writing.message == why.message)
    return;
  if (writing.next && !why.nomination) why.nomination = std::move(writing.next->nomination);
  writing.next = std::move(why);
}

void PodReports::begin_writing() {
  if (writers_ == kConditionsAtOnce) return;
  ++writers_;
  tasks_.spawn("write conditions", write_conditions());
}

Task<void> PodReports::write_conditions() {
  while (!in_line_.empty()) {
    const std::string uid = std::move(in_line_.front());
    in_line_.pop_front();
    for (auto at = writing_.find(uid); at->second.next; at = writing_.find(uid)) {
      Reason why = std::move(*at->second.next);
      at->second = {why.reason, why.message, std::nullopt};
      co_await write_condition(std::move(why.pod), std::move(why.reason), std::move(why.message),
                               std::move(why.nomination));
    }
    writing_.erase(uid);
  }
  --writers_;
}

Task<void> PodReports::write_condition(PodPointer pod, std::string reason, std::string message,
                                       Nomination nomination) {
  // lastTransitionTime belongs to the status of the condition; a new message does not change it.
  const PodPointer latest = pods_.find(kube::object_key(pod->meta));
  const kube::Condition* before = scheduled_condition(latest ? *latest : *pod);
  const bool waited = before != nullptr && before->status == "False" && before->last_transition;
  const WallTime since = waited ? *before->last_transition : clock_.wall();
  json::array conditions{json::object{{"type", "PodScheduled"},
                                      {"observedGeneration", pod->meta.generation},
                                      {"status", "False"},
                                      {"reason", reason},
                                      {"message", message},
                                      {"lastProbeTime", nullptr},
                                      {"lastTransitionTime", format_rfc3339(since)}}};
  json::object status{{"conditions", std::move(conditions)}};
  if (nomination && nomination->empty())
    status["nominatedNodeName"] = nullptr;
  else if (nomination)
    status["nominatedNodeName"] = *nomination;
  auto written = co_await patch_status(pod, std::move(status));
  if (!written && written.error().code != Code::not_found)
    log::warn("scheduler", "cannot write the PodScheduled condition of a pod",
              {{"pod", kube::object_key(pod->meta)}, {"error", written.error()}});
}

Task<Result<void>> PodReports::patch_status(PodPointer pod, json::object status) {
  const json::value patch = json::object{{"status", std::move(status)}};
  kube::ObjectPath path{
      .ns = std::string(pod->meta.ns), .name = pod->meta.name, .subresource = "status"};
  for (int attempt = 1;; ++attempt) {
    json::value body = patch;
    auto patched = co_await client_->patch(kube::resources::pods, path, kube::PatchType::strategic,
                                           std::move(body));
    if (patched) co_return Result<void>();
    if (attempt == kStatusTries || !is_retryable(patched.error().code))
      co_return std::move(patched).error();
    co_await clock_.sleep(kStatusWait);
  }
}

}  // namespace plim::sched
