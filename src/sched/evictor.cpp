#include "sched/evictor.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/rfc3339.hpp"
#include "kube/store.hpp"

namespace plim::sched {
namespace {

constexpr std::string_view kDisruption = "DisruptionTarget", kByScheduler = "PreemptionByScheduler";

const kube::Condition* disruption_of(const kube::Pod& pod) {
  const auto found = std::ranges::find(pod.status.conditions, kDisruption,
                                       [](const kube::Condition& c) { return c.type.view(); });
  return found == pod.status.conditions.end() ? nullptr : &*found;
}

}  // namespace

Evictor::Evictor(const Executor& loop, std::shared_ptr<kube::Client> client, PodReports& reports,
                 SchedulerState& state, OnDone on_done, Clock& clock)
    : client_(std::move(client)),
      reports_(reports),
      state_(state),
      on_done_(std::move(on_done)),
      clock_(clock),
      tasks_(loop) {}

Task<void> Evictor::stop() {
  co_await tasks_.stop();
}

void Evictor::evict(Eviction eviction) {
  auto of = std::make_shared<const Eviction>(std::move(eviction));
  for (const PodPointer& pod : of->yielding)
    tasks_.spawn("take a nomination away", take_nomination(pod));
  auto progress = std::make_shared<Progress>();
  const auto stays = [](const PodPointer& victim) { return !victim->meta.deleted; };
  progress->left = static_cast<std::size_t>(std::ranges::count_if(of->victims, stays));
  progress->began = clock_.steady();
  for (const PodPointer& victim : of->victims)
    if (stays(victim))
      tasks_.spawn("remove a pod for another", remove_victim(of, victim, progress));
}

Task<void> Evictor::remove_victim(std::shared_ptr<const Eviction> of, PodPointer victim,
                                  std::shared_ptr<Progress> progress) {
  Result<void> done = co_await mark(victim, of->profile);
  if (done) done = co_await remove(victim);
  if (done) {
    reports_.preempted(*victim, *of->preemptor, of->profile, of->node);
  } else if (done.error().code == Code::not_found) {
    state_.victim_leaves(victim->meta.uid);  // it is gone, and no watch event may follow
  } else {
    log::warn("scheduler", "cannot evict a pod for another",
              {{"pod", kube::object_key(victim->meta)}, {"error", done.error()}});
    progress->all = false;
    state_.victim_stays(of->preemptor->meta.uid);
  }
  if (--progress->left == 0) on_done_(progress->all, clock_.steady() - progress->began);
}

// Sets the condition that says why, before the pod is deleted.
Task<Result<void>> Evictor::mark(PodPointer victim, std::string profile) {
  std::string message = fmt::format("{}: preempting to accommodate a higher priority pod", profile);
  WallTime since = clock_.wall();
  if (const kube::Condition* known = disruption_of(*victim); known && known->status == "True") {
    if (known->reason == kByScheduler && known->message == message) co_return Result<void>();
    since = known->last_transition.value_or(since);
  }
  json::object condition{{"type", kDisruption},
                         {"observedGeneration", victim->meta.generation},
                         {"status", "True"},
                         {"reason", kByScheduler},
                         {"message", std::move(message)},
                         {"lastProbeTime", nullptr},
                         {"lastTransitionTime", format_rfc3339(since)}};
  json::array conditions;
  conditions.push_back(std::move(condition));
  json::object status{{"conditions", std::move(conditions)}};
  co_return co_await reports_.patch_status(victim, std::move(status));
}

Task<Result<void>> Evictor::remove(PodPointer victim) {
  kube::ObjectPath path{.ns = std::string(victim->meta.ns), .name = victim->meta.name};
  kube::DeleteOptions options;
  options.uid = victim->meta.uid;
  auto removed = co_await client_->remove(kube::resources::pods, path, std::move(options));
  if (removed) co_return Result<void>();
  // Another pod has the name now: this one is gone.
  if (removed.error().code == Code::conflict) co_return fail(Code::not_found, "the pod is gone");
  co_return std::move(removed).error();
}

Task<void> Evictor::take_nomination(PodPointer pod) {
  json::object status{{"nominatedNodeName", nullptr}};
  auto taken = co_await reports_.patch_status(pod, std::move(status));
  if (!taken && taken.error().code != Code::not_found)
    log::warn("scheduler", "cannot clear the nominated node of a pod",
              {{"pod", kube::object_key(pod->meta)}, {"error", taken.error()}});
}

}  // namespace plim::sched
