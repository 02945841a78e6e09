// Watches a kind of object and keeps only the few fields that matter.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/json.hpp"
#include "base/task.hpp"
#include "kube/informer.hpp"

namespace plim::sched {

class Follower {
 public:
  virtual ~Follower() = default;
  virtual void start() = 0;
  virtual Task<void> stop() = 0;
  virtual bool synced() const = 0;
  virtual void on_synced(std::function<void()> tell) = 0;  // before start()
};

// T is made from the object's JSON. The callbacks get it when it was set and when it is gone.
template <class T>
class FollowerOf final : public Follower {
 public:
  struct Kept {
    kube::ObjectMeta meta;
    T value;
  };

  using Read = std::function<T(const kube::ObjectMeta&, const json::value&)>;
  using Tell = std::function<void(const Kept&)>;
  // `before` is null for a new object.
  using TellChange = std::function<void(const Kept* before, const Kept& now)>;

  FollowerOf(const Executor& loop, std::shared_ptr<kube::Client> client, kube::Resource resource,
             kube::InternPool& pool, Read read, Tell set, Tell remove, Clock& clock)
      : FollowerOf(loop, std::move(client), std::move(resource), pool, std::move(read),
                   TellChange([set = std::move(set)](const Kept*, const Kept& now) { set(now); }),
                   std::move(remove), clock) {}

  FollowerOf(const Executor& loop, std::shared_ptr<kube::Client> client, kube::Resource resource,
             kube::InternPool& pool, Read read, TellChange set, Tell remove, Clock& clock)
      : informer_(loop, std::move(client), std::move(resource), codec(pool, std::move(read)), {},
                  clock) {
    informer_.add_handlers(
        {.on_add = [set](const auto& object) { set(nullptr, *object); },
         .on_update = [set](const auto& before, const auto& object) { set(before.get(), *object); },
         .on_delete = [remove](const auto& object) { remove(*object); }});
  }

  void start() override { informer_.start(); }

  Task<void> stop() override { return informer_.stop(); }

  bool synced() const override { return informer_.synced(); }

  void on_synced(std::function<void()> tell) override {
    informer_.add_handlers({.on_synced = std::move(tell)});
  }

 private:
  static kube::Codec<Kept> codec(kube::InternPool& pool, Read read) {
    return kube::codec_of<Kept>(
        [&pool, read = std::move(read)](kube::JsonText text) -> Result<Kept> {
          Kept out;
          PLIM_TRY(out.meta, kube::decode_meta(text, pool));
          PLIM_TRY(const json::value object, parse_json(text.view()));
          out.value = read(out.meta, object);
          out.meta.labels.clear();
          out.meta.annotations.clear();
          return out;
        });
  }

  kube::Informer<Kept> informer_;
};

}  // namespace plim::sched
