#include <algorithm>
#include <utility>

#include "kube/requests.hpp"
#include "local/sim/simulation.hpp"

namespace plim::local::sim {

// True: the job has been put off, or is void. The whole object is needed, as a stage may look at
// any field.
Task<bool> Simulation::look_for_stage(Job job, kube::Resource resource, kube::ObjectMeta meta) {
  kube::ObjectPath path{.ns = std::string(meta.ns.view()), .name = meta.name};
  auto object = co_await client->get(resource, std::move(path));
  Tracked* tracked = find_tracked(job);
  if (!tracked || tracked->generation != job.number) co_return true;
  if (!object) {
    settle(*tracked);
    co_return true;
  }
  tracked->looked = true;
  tracked->stage = choose_stage(options.stages, resource.kind, *object, random);
  if (!tracked->stage) co_return false;
  const Nanos wait = tracked->stage->wait(random);
  if (wait == Nanos::zero()) co_return false;
  push(std::move(job), *tracked, wait);
  co_return true;
}

Simulation::Tracked* Simulation::find_tracked(const Job& job) {
  if (job.what == What::pod) {
    auto found = pods.find(job.key);
    return found == pods.end() ? nullptr : &found->second;
  }
  auto found = nodes.find(job.key);
  return found == nodes.end() ? nullptr : &found->second;
}

Task<Result<void>> Simulation::apply_stage(Stage stage, kube::Resource resource,
                                           kube::ObjectMeta meta, Substitutions with) {
  kube::ObjectPath path{.ns = std::string(meta.ns.view()), .name = meta.name};
  if (stage.event) {
    kube::EventNote event{
        .about = {kube::api_version(resource), resource.kind, path.ns, path.name, meta.uid},
        .reason = stage.event->reason,
        .message = substitute(stage.event->message, with)};
    if (stage.event->type == "Warning") event.type = kube::EventNote::Type::warning;
    recorder.record(event);
  }
  if (!stage.add_finalizers.empty() || !stage.remove_finalizers.empty())
    PLIM_CO_CHECK(co_await change_finalizers(stage, resource, path));
  if (stage.status.is_object()) {
    json::object about{{"uid", meta.uid}};
    json::value patch =
        json::object{{"metadata", std::move(about)}, {"status", substitute(stage.status, with)}};
    kube::ObjectPath status = path;
    status.subresource = "status";
    auto written = co_await write_patch(resource, status, patch);
    note(written);
    if (!written) co_return written.error();
  }
  if (stage.remove) PLIM_CO_CHECK(co_await remove(resource, meta));
  co_return Result<void>();
}

Task<Result<void>> Simulation::change_finalizers(Stage stage, kube::Resource resource,
                                                 kube::ObjectPath path) {
  PLIM_CO_TRY(json::value object, co_await client->get(resource, path));
  std::vector<std::string> list = texts_at(object, {"metadata", "finalizers"});
  std::erase_if(list, [&](const std::string& name) {
    return std::ranges::find(stage.remove_finalizers, name) != stage.remove_finalizers.end();
  });
  for (const std::string& name : stage.add_finalizers)
    if (std::ranges::find(list, name) == list.end()) list.push_back(name);
  json::object metadata{{"finalizers", json::array(list.begin(), list.end())},
                        {"resourceVersion", text_at(object, {"metadata", "resourceVersion"})}};
  json::value patch = json::object{{"metadata", std::move(metadata)}};
  auto written = co_await write_patch(resource, path, patch);
  if (!written) co_return written.error();
  co_return Result<void>();
}

Task<Result<void>> Simulation::remove(kube::Resource resource, kube::ObjectMeta meta) {
  kube::DeleteOptions how{.grace_seconds = 0, .uid = meta.uid};
  kube::ObjectPath path{.ns = std::string(meta.ns.view()), .name = meta.name};
  PLIM_CO_CHECK(co_await send(kube::delete_request(resource, path, how)));
  ++stats.removed;
  co_return Result<void>();
}

}  // namespace plim::local::sim
