#include "local/sim/stage_runner.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kube/paths.hpp"

namespace plim::local::sim {

bool StageRunner::has_stages(std::string_view kind) const {
  return std::ranges::any_of(sim_.options.stages, [&](const Stage& s) { return s.kind == kind; });
}

bool StageRunner::choose(Job job, Tracked& tracked, std::string_view kind,
                         const Result<json::value>& object) {
  if (!object) {
    Jobs::settle(tracked);
    return false;
  }
  tracked.looked = true;
  tracked.stage = choose_stage(sim_.options.stages, kind, *object, sim_.random);
  if (tracked.stage == nullptr) return true;
  const Nanos wait = tracked.stage->wait(sim_.random);
  if (wait == Nanos::zero()) return true;
  sim_.jobs.push(std::move(job), tracked, wait);
  return false;
}

Task<Result<void>> StageRunner::apply(Stage stage, kube::Resource resource, kube::ObjectMeta meta,
                                      Substitutions with) {
  record(stage, resource, meta, with);
  if (!stage.add_finalizers.empty() || !stage.remove_finalizers.empty())
    PLIM_CO_CHECK(co_await change_finalizers(stage, resource, meta));
  if (stage.status.is_object()) {
    json::object about{{"uid", meta.uid}};
    const json::value patch =
        json::object{{"metadata", std::move(about)}, {"status", substitute(stage.status, with)}};
    PLIM_CO_CHECK(co_await sim_.api.patch_status(resource, path_of(meta), patch));
  }
  if (stage.remove) PLIM_CO_CHECK(co_await sim_.api.remove(resource, meta));
  co_return Result<void>();
}

void StageRunner::record(const Stage& stage, const kube::Resource& resource,
                         const kube::ObjectMeta& meta, const Substitutions& with) {
  if (!stage.event) return;
  kube::EventNote event{.about = {kube::api_version(resource), resource.kind,
                                  std::string(meta.ns.view()), meta.name, meta.uid},
                        .reason = stage.event->reason,
                        .message = substitute(stage.event->message, with)};
  if (stage.event->type == "Warning") event.type = kube::EventNote::Type::warning;
  events_.record(event);
}

Task<Result<void>> StageRunner::change_finalizers(Stage stage, kube::Resource resource,
                                                  kube::ObjectMeta meta) {
  PLIM_CO_TRY(const json::value object, co_await sim_.api.get(resource, meta));
  std::vector<std::string> list = kube::texts_at(object, "Object.metadata.finalizers");
  std::erase_if(list, [&](const std::string& name) {
    return std::ranges::find(stage.remove_finalizers, name) != stage.remove_finalizers.end();
  });
  for (const std::string& name : stage.add_finalizers)
    if (std::ranges::find(list, name) == list.end()) list.push_back(name);
  json::object metadata{
      {"finalizers", json::array(list.begin(), list.end())},
      {"resourceVersion", kube::text_at(object, "Object.metadata.resourceVersion")}};
  const json::value patch = json::object{{"metadata", std::move(metadata)}};
  const kube::ObjectPath path = path_of(meta);
  co_return co_await sim_.api.patch(resource, path, patch);
}

}  // namespace plim::local::sim
