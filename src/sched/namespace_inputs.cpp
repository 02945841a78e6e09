#include "sched/namespace_inputs.hpp"

#include <algorithm>
#include <utility>

namespace plim::sched {
namespace {

const kube::Resource kReplicationControllers{.group = "",
                                             .version = "v1",
                                             .plural = "replicationcontrollers",
                                             .kind = "ReplicationController"};
const kube::Resource kStatefulSets{
    .group = "apps", .version = "v1", .plural = "statefulsets", .kind = "StatefulSet"};

}  // namespace

NamespaceInputs::NamespaceInputs(const Executor& loop, std::shared_ptr<kube::Client> client,
                                 Engine& engine, kube::InternPool& pool,
                                 std::function<void()> on_synced, Clock& clock)
    : namespaces_(loop, client, kube::resources::namespaces, kube::meta_codec(pool), {}, clock) {
  namespaces_.add_handlers(
      {.on_add = [&engine](const auto& meta) { engine.set_namespace(meta->name, meta->labels); },
       .on_update = [&engine](const auto&,
                              const auto& meta) { engine.set_namespace(meta->name, meta->labels); },
       .on_delete = [&engine](const auto& meta) { engine.remove_namespace(meta->name); },
       .on_synced = on_synced});
  for (const kube::Resource& resource : {kube::resources::services, kReplicationControllers,
                                         kube::resources::replica_sets, kStatefulSets}) {
    auto& informer = selecting_.emplace_back(std::make_unique<Selecting>(
        loop, client, resource, placement::selecting_codec(resource.kind, pool),
        kube::ReflectorOptions{}, clock));
    informer->add_handlers(
        {.on_add = [&engine](const auto& object) { engine.set_selector_owner(object->owner); },
         .on_update = [&engine](const auto&,
                                const auto& object) { engine.set_selector_owner(object->owner); },
         .on_delete =
             [&engine](const auto& object) {
               engine.remove_selector_owner(object->owner.kind, object->owner.ns,
                                            object->owner.name);
             },
         .on_synced = on_synced});
  }
}

void NamespaceInputs::start(const placement::Needs& needs) {
  if (needs.namespaces && !std::exchange(followed_.namespaces, true)) namespaces_.start();
  if (needs.owners && !std::exchange(followed_.owners, true))
    for (auto& informer : selecting_) informer->start();
}

Task<void> NamespaceInputs::stop() {
  co_await namespaces_.stop();
  for (auto& informer : selecting_) co_await informer->stop();
}

bool NamespaceInputs::synced() const {
  return (!followed_.namespaces || namespaces_.synced()) &&
         (!followed_.owners ||
          std::ranges::all_of(selecting_, [](const auto& informer) { return informer->synced(); }));
}

}  // namespace plim::sched
