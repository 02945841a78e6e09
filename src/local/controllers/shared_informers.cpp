#include "local/controllers/shared_informers.hpp"

namespace plim::local::controllers {

PodCache::PodCache(const Executor& loop, std::shared_ptr<kube::Client> client,
                   kube::InternPool& pool, Clock& clock)
    : Cache(loop, std::move(client), kube::resources::pods, kube::pod_codec(pool), clock),
      by_node_(informer.add_index([](const kube::Pod& pod) {
        return std::vector<std::string>{std::string(pod.spec.node_name.view())};
      })) {}

std::vector<PodPointer> PodCache::on_node(std::string_view node) const {
  return informer.store().indexed(by_node_, node);
}

SharedInformers::SharedInformers(Executor loop, std::shared_ptr<kube::Client> client, Clock& clock)
    : loop_(std::move(loop)), client_(std::move(client)), clock_(clock) {}

SharedInformers::~SharedInformers() = default;

PodCache& SharedInformers::pods() {
  if (!pods_) pods_ = std::make_unique<PodCache>(loop_, client_, pool_, clock_);
  return *pods_;
}

Cache<kube::Node>& SharedInformers::nodes() {
  if (!nodes_)
    nodes_ = std::make_unique<Cache<kube::Node>>(loop_, client_, kube::resources::nodes,
                                                 kube::node_codec(pool_), clock_);
  return *nodes_;
}

ObjectCache& SharedInformers::objects(const kube::Resource& resource) {
  std::unique_ptr<ObjectCache>& place = objects_[kube::api_path(resource, {})];
  if (!place)
    place = std::make_unique<ObjectCache>(loop_, client_, resource, object_codec(pool_), clock_);
  return *place;
}

ObjectCache* SharedInformers::find_objects(const kube::Resource& resource) {
  auto found = objects_.find(kube::api_path(resource, {}));
  return found == objects_.end() ? nullptr : found->second.get();
}

void SharedInformers::start() {
  if (pods_) pods_->informer.start();
  if (nodes_) nodes_->informer.start();
  for (auto& [path, cache] : objects_) cache->informer.start();
}

Task<void> SharedInformers::wait_synced() {
  if (pods_) co_await pods_->informer.wait_synced();
  if (nodes_) co_await nodes_->informer.wait_synced();
  for (auto& [path, cache] : objects_) co_await cache->informer.wait_synced();
}

Task<void> SharedInformers::stop() {
  if (pods_) co_await pods_->informer.stop();
  if (nodes_) co_await nodes_->informer.stop();
  for (auto& [path, cache] : objects_) co_await cache->informer.stop();
}

}  // namespace plim::local::controllers
