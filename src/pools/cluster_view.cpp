#include "pools/cluster_view.hpp"

#include <utility>

namespace plim::pools {
namespace {

using namespace std::chrono_literals;

kube::ReflectorOptions field(std::string selector) {
  kube::ReflectorOptions out;
  out.field_selector = std::move(selector);
  out.backoff = {.first = 200ms, .limit = 10s, .jitter = 0.2};
  return out;
}

}  // namespace

ClusterView::ClusterView(const Executor& loop, const std::shared_ptr<kube::Client>& client,
                         std::string node_name, const Hooks& hooks, Clock& clock)
    : node_name_(std::move(node_name)),
      pods_(loop, client, kube::resources::pods, kube::pod_codec(intern_),
            field("spec.nodeName=" + node_name_), clock),
      node_(loop, client, kube::resources::nodes, kube::node_codec(intern_),
            field("metadata.name=" + node_name_), clock) {
  pods_.add_handlers({.on_add = [tell = hooks.on_pods](const auto&) { tell(); },
                      .on_update = [tell = hooks.on_pods](const auto&, const auto&) { tell(); },
                      .on_delete = [tell = hooks.on_pods](const auto&) { tell(); }});
  node_.add_handlers({.on_update = [tell = hooks.on_node](const auto&, const auto&) { tell(); }});
}

void ClusterView::start() {
  pods_.start();
  node_.start();
}

Task<void> ClusterView::stop() {
  co_await pods_.stop();
  co_await node_.stop();
}

Task<void> ClusterView::wait_synced() {
  co_await node_.wait_synced();
  co_await pods_.wait_synced();
}

std::string ClusterView::not_synced() const {
  if (!node_.synced()) return "the API server has not sent the node yet";
  if (!pods_.synced()) return "the API server has not sent the pods yet";
  return {};
}

std::shared_ptr<const kube::Node> ClusterView::node() const {
  return node_.store().find(node_name_);
}

NodeLabels ClusterView::labels() const {
  NodeLabels out;
  const auto known = node();
  if (!known) return out;
  for (const auto& [key, value] : known->meta.labels)
    out.emplace_back(std::string(key.view()), std::string(value.view()));
  return out;
}

std::shared_ptr<const kube::Pod> ClusterView::find_pod(std::string_view key) const {
  return pods_.store().find(key);
}

std::vector<PodFacts> ClusterView::pods(const BaseNames& bases) const {
  std::vector<PodFacts> out;
  for (const auto& [key, pod] : pods_.store()) out.push_back(facts_of(*pod, bases));
  return out;
}

}  // namespace plim::pools
