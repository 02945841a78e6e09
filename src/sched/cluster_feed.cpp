#include "sched/cluster_feed.hpp"

#include <utility>

#include "sched/cache_comparer.hpp"

namespace plim::sched {
namespace {

kube::ReflectorOptions running_pods() {
  kube::ReflectorOptions out;
  out.field_selector = kRunningPods;
  return out;
}

}  // namespace

ClusterFeed::ClusterFeed(const Executor& loop, std::shared_ptr<kube::Client> client,
                         EtcdSource etcd, SchedulerState& state, ObjectTexts& texts,
                         std::function<void()> on_synced, Clock& clock)
    : state_(state),
      texts_(texts),
      on_synced_(std::move(on_synced)),
      pods_(loop, client, kube::resources::pods, texts_.keeping(kube::pod_codec(pool_)),
            running_pods(), clock),
      nodes_(loop, client, kube::resources::nodes, texts_.keeping(kube::node_codec(pool_)), {},
             clock),
      namespaces_(loop, client, state_.engine(), pool_, on_synced_, clock),
      storage_(
          loop, client, state_.engine(), pool_,
          [this](const ClusterEvent& event) { state_.happened(event); }, on_synced_, clock),
      inputs_(
          loop, std::move(client), std::move(etcd), state_.engine(), pool_,
          [this](EventKind kind) { state_.happened({.kind = kind}); }, on_synced_, clock) {
  add_handlers();
}

void ClusterFeed::add_handlers() {
  pods_.add_handlers({.on_add = [this](const auto& pod) { state_.pod_changed(nullptr, pod); },
                      .on_update = [this](const auto& before,
                                          const auto& now) { state_.pod_changed(before, now); },
                      .on_delete =
                          [this](const auto& pod) {
                            texts_.forget_pod(pod->meta.uid);
                            state_.pod_gone(pod);
                          },
                      .on_synced = on_synced_});
  nodes_.add_handlers({.on_add = [this](const auto& node) { state_.node_changed(nullptr, node); },
                       .on_update = [this](const auto& before,
                                           const auto& now) { state_.node_changed(before, now); },
                       .on_delete =
                           [this](const auto& node) {
                             texts_.forget_node(node->meta.name);
                             state_.node_gone(node);
                           },
                       .on_synced = on_synced_});
}

void ClusterFeed::start(const placement::Needs& needs) {
  nodes_.start();
  pods_.start();
  follow(needs);
}

void ClusterFeed::follow(const placement::Needs& needs) {
  namespaces_.start(needs);
  storage_.start(needs);
  inputs_.start(needs);
}

Task<void> ClusterFeed::stop() {
  co_await pods_.stop();
  co_await nodes_.stop();
  co_await namespaces_.stop();
  co_await storage_.stop();
  co_await inputs_.stop();
}

bool ClusterFeed::synced() const {
  return pods_.synced() && nodes_.synced() && namespaces_.synced() && storage_.synced() &&
         inputs_.synced();
}

}  // namespace plim::sched
