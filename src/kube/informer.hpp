// A local copy of a collection that follows the cluster and calls handlers for every change.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/event.hpp"
#include "base/task.hpp"
#include "kube/reflector.hpp"
#include "kube/store.hpp"

namespace plim::kube {

// Belongs to one loop; co_await stop() before destroying it. Handlers run on the loop after the
// store has changed. For each object they see add, then updates, then delete, even if the
// connection was lost: an object that was gone after the gap is deleted, and one that was replaced
// by another of the same name is deleted and added. There is no periodic resync.
template <class T>
class Informer final : private Reflector::Target {
 public:
  using Pointer = std::shared_ptr<const T>;

  struct Handlers {
    std::function<void(const Pointer& object)> on_add = {};
    std::function<void(const Pointer& before, const Pointer& now)> on_update = {};
    std::function<void(const Pointer& last)> on_delete = {};
    std::function<void()> on_synced = {};  // once, when the first state is complete
  };

  Informer(const Executor& loop, std::shared_ptr<Client> client, Resource resource, Codec<T> codec,
           ReflectorOptions options = {}, Clock& clock = system_clock(),
           Random& random = system_random())
      : codec_(std::move(codec)),
        name_("informer of " + resource.plural),
        reflector_(std::move(client), std::move(resource), std::move(options), *this, clock,
                   random),
        synced_event_(loop),
        tasks_(loop) {}

  // At any time. The handler gets an add for every object already in the store.
  void add_handlers(Handlers handlers) {
    handlers_.push_back(std::move(handlers));
    const Handlers& added = handlers_.back();
    if (added.on_add)
      for (const auto& [key, object] : store_) added.on_add(object);
    if (synced_ && added.on_synced) added.on_synced();
  }

  std::size_t add_index(typename Store<T>::IndexFunction function) {
    return store_.add_index(std::move(function));
  }

  void start() { tasks_.spawn(name_, reflector_.run()); }

  Task<void> stop() { return tasks_.stop(); }

  const Store<T>& store() const { return store_; }

  bool synced() const { return synced_; }

  Task<void> wait_synced() {
    while (!synced_) co_await synced_event_.wait();
  }

  const Reflector::Stats& stats() const { return reflector_.stats(); }

 private:
  void begin_replace() override {
    replacing_ = true;
    next_.clear();
  }

  Result<ListMeta> add_page(JsonText list) override {
    return codec_.list(list, [this](Pointer object) -> Result<void> {
      std::string key = object_key(meta_of(*object));
      next_.insert_or_assign(std::move(key), std::move(object));
      return {};
    });
  }

  Result<void> apply(WatchEvent::Type type, JsonText text) override {
    PLIM_TRY(T object, codec_.one(text));
    std::string key = object_key(meta_of(object));
    auto made = std::make_shared<const T>(std::move(object));
    bool gone = type == WatchEvent::Type::deleted;
    if (replacing_ && gone) {
      next_.erase(key);
    } else if (replacing_) {
      next_.insert_or_assign(std::move(key), std::move(made));
    } else if (gone) {
      erase(key, made);
    } else {
      put(key, std::move(made));
    }
    return {};
  }

  void end_replace() override {
    replacing_ = false;
    std::vector<std::string> vanished;
    for (const auto& [key, object] : store_)
      if (!next_.contains(key)) vanished.push_back(key);
    for (const std::string& key : vanished) erase(key, nullptr);
    for (auto& [key, object] : std::exchange(next_, {})) put(key, std::move(object));
    if (synced_) return;
    synced_ = true;
    synced_event_.notify();
    tell(&Handlers::on_synced);
  }

  void put(const std::string& key, Pointer object) {
    Pointer before = store_.find(key);
    if (before && meta_of(*before).uid != meta_of(*object).uid) {
      erase(key, nullptr);
      before = nullptr;
    }
    // Received twice: from a list and a watch, or from two watches.
    bool same = before && !meta_of(*object).resource_version.empty() &&
                meta_of(*before).resource_version == meta_of(*object).resource_version;
    if (same) return;
    store_.put(key, object);
    if (before) {
      tell(&Handlers::on_update, before, object);
    } else {
      tell(&Handlers::on_add, object);
    }
  }

  // `last`: the state that the server sent with the deletion, if any.
  void erase(const std::string& key, Pointer last) {
    Pointer before = store_.erase(key);
    if (before) tell(&Handlers::on_delete, last ? last : before);
  }

  template <class Function, class... Args>
  void tell(Function Handlers::* which, const Args&... args) {
    for (std::size_t i = 0; i < handlers_.size(); ++i)  // a handler may add handlers
      if (const auto& function = handlers_[i].*which) function(args...);
  }

  Codec<T> codec_;
  std::string name_;
  Reflector reflector_;
  Store<T> store_;
  TextMap<Pointer> next_;  // the new state while replacing_
  bool replacing_ = false;
  bool synced_ = false;
  Event synced_event_;
  std::deque<Handlers> handlers_;  // a deque: references stay valid while a handler adds more
  TaskGroup tasks_;
};

}  // namespace plim::kube
