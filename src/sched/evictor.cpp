#include "sched/evictor.hpp"

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/rfc3339.hpp"
#include "kube/store.hpp"

namespace plim::sched {

Evictor::Evictor(const Executor& loop, std::shared_ptr<kube::Client> client, PodReports& reports,
                 Clock& clock)
    : client_(std::move(client)), reports_(reports), clock_(clock), tasks_(loop) {}

Task<void> Evictor::stop() {
  co_await tasks_.stop();
}

void Evictor::evict(Eviction eviction) {
  tasks_.spawn("preempt", remove_victims(std::move(eviction)));
}

Task<void> Evictor::remove_victims(Eviction eviction) {
  for (const PodPointer& victim : eviction.victims)
    if (co_await remove_victim(victim, eviction.profile))
      reports_.preempted(*victim, *eviction.preemptor, eviction.profile, eviction.node);
}

// It is told why before it is deleted. True unless it is still there.
Task<bool> Evictor::remove_victim(PodPointer victim, std::string profile) {
  json::object condition{
      {"type", "DisruptionTarget"},
      {"observedGeneration", victim->meta.generation},
      {"status", "True"},
      {"reason", "PreemptionByScheduler"},
      {"message", fmt::format("{}: preempting to accommodate a higher priority pod", profile)},
      {"lastTransitionTime", format_rfc3339(clock_.wall())}};
  json::array conditions;
  conditions.push_back(std::move(condition));
  json::value patch = json::object{{"status", {{"conditions", std::move(conditions)}}}};
  kube::ObjectPath status{
      .ns = std::string(victim->meta.ns), .name = victim->meta.name, .subresource = "status"};
  auto patched = co_await client_->patch(kube::resources::pods, status, kube::PatchType::strategic,
                                         std::move(patch));
  if (!patched && patched.error().code != Code::not_found)
    log::warn("scheduler", "cannot mark a victim",
              {{"pod", kube::object_key(victim->meta)}, {"error", patched.error()}});
  kube::ObjectPath path{.ns = std::string(victim->meta.ns), .name = victim->meta.name};
  kube::DeleteOptions options;
  options.uid = victim->meta.uid;
  auto removed = co_await client_->remove(kube::resources::pods, path, std::move(options));
  if (removed || removed.error().code == Code::not_found) co_return true;
  log::warn("scheduler", "cannot remove a victim",
            {{"pod", kube::object_key(victim->meta)}, {"error", removed.error()}});
  co_return false;
}

}  // namespace plim::sched
