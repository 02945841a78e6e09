// One cache of each kind for all controllers.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "kube/informer.hpp"
#include "local/controllers/owned_object.hpp"

namespace plim::local::controllers {

// An informer with the indexes that most controllers use. Belongs to one loop.
template <class T>
class Cache {
 public:
  using Pointer = std::shared_ptr<const T>;

  Cache(const Executor& loop, std::shared_ptr<kube::Client> client, const kube::Resource& kind,
        kube::Codec<T> codec, Clock& clock)
      : resource(kind), informer(loop, std::move(client), kind, std::move(codec), {}, clock) {
    by_controller_ = informer.add_index([](const T& object) {
      const kube::ObjectMeta& meta = kube::meta_of(object);
      const kube::Owner* owner = controller_of(meta);
      return std::vector<std::string>{owner ? owner->uid : orphan_key(meta.ns)};
    });
    by_namespace_ = informer.add_index([](const T& object) {
      return std::vector<std::string>{std::string(kube::meta_of(object).ns.view())};
    });
  }

  Pointer find(std::string_view key) const { return informer.store().find(key); }

  std::vector<Pointer> controlled_by(std::string_view uid) const {
    return informer.store().indexed(by_controller_, uid);
  }

  std::vector<Pointer> orphans_in(std::string_view ns) const {
    return informer.store().indexed(by_controller_, orphan_key(ns));
  }

  std::vector<Pointer> in_namespace(std::string_view ns) const {
    return informer.store().indexed(by_namespace_, ns);
  }

  const kube::Resource resource;
  kube::Informer<T> informer;

 private:
  // The slash keeps it apart from UIDs, which contain none.
  static std::string orphan_key(std::string_view ns) { return "/" + std::string(ns); }

  std::size_t by_controller_ = 0;
  std::size_t by_namespace_ = 0;
};

using ObjectCache = Cache<Object>;

class PodCache : public Cache<kube::Pod> {
 public:
  PodCache(const Executor& loop, std::shared_ptr<kube::Client> client, kube::InternPool& pool,
           Clock& clock);

  std::vector<PodPointer> on_node(std::string_view node) const;

 private:
  std::size_t by_node_;
};

// Belongs to one loop; co_await stop() before destroying it, and before what its handlers call.
class SharedInformers {
 public:
  SharedInformers(Executor loop, std::shared_ptr<kube::Client> client, Clock& clock);
  ~SharedInformers();
  SharedInformers(const SharedInformers&) = delete;
  SharedInformers& operator=(const SharedInformers&) = delete;

  // Created at the first call, which must be before start().
  PodCache& pods();
  Cache<kube::Node>& nodes();
  ObjectCache& objects(const kube::Resource& resource);

  // Null if no controller uses that kind.
  ObjectCache* find_objects(const kube::Resource& resource);

  void start();
  Task<void> wait_synced();
  Task<void> stop();

  kube::InternPool& pool() { return pool_; }

 private:
  Executor loop_;
  std::shared_ptr<kube::Client> client_;
  Clock& clock_;
  kube::InternPool pool_;
  std::unique_ptr<PodCache> pods_;
  std::unique_ptr<Cache<kube::Node>> nodes_;
  std::map<std::string, std::unique_ptr<ObjectCache>> objects_;  // by API path
};

}  // namespace plim::local::controllers
