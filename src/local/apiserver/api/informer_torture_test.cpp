// Watchers that lose their connection repeatedly end up with the state that a list shows.
#include <map>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "kube/decode.hpp"
#include "kube/object.hpp"
#include "local/apiserver/testing/api_fixture.hpp"

namespace plim::local::apiserver::testing {
namespace {

namespace res = kube::resources;
using Cache = std::map<std::string, std::string>;  // name to resourceVersion

// Maintains a cache with list and watch, as informers do.
class Follower {
 public:
  Follower(ApiFixture& api, std::uint64_t seed, kube::WatchOptions options)
      : api_(api), random_(seed), options_(std::move(options)) {}

  void step() {
    if (!watch_) connect();
    for (std::uint64_t n = random_.below(8); n > 0 && take_one();) --n;
    if (random_.below(4) == 0) watch_.reset();  // cuts the connection
  }

  void catch_up() {
    if (!watch_) connect();
    while (revision_ < api_.store->view().revision() && take_one()) {
    }
  }

  const Cache& cache() const { return cache_; }

 private:
  void connect() {
    if (revision_ == 0) {
      kube::ListOptions options{.ns = options_.ns, .label_selector = options_.label_selector};
      auto list = api_.run(api_.client->list(res::config_maps, options));
      ASSERT_TRUE(list);
      cache_.clear();
      for (const json::value& item : list->at("items").as_array())
        cache_[std::string(kube::name_of(item))] = kube::resource_version_of(item);
      revision_ = number(text_at(*list, {"metadata", "resourceVersion"}));
    }
    options_.resource_version = std::to_string(revision_);
    auto opened = api_.run(api_.client->watch(res::config_maps, options_));
    ASSERT_TRUE(opened) << opened.error().message;
    watch_ = std::move(*opened);
  }

  // False: no event is waiting, or the watch has to be opened again.
  bool take_one() {
    // Reading would block without an event; a marker object ends every step.
    if (revision_ >= api_.store->view().revision()) return false;
    auto line = api_.run(watch_->next());
    EXPECT_TRUE(line && *line);
    auto event = kube::decode_watch_event(kube::JsonText(**line));
    EXPECT_TRUE(event);
    if (event->type == kube::WatchEvent::Type::error) {
      revision_ = 0;
      watch_.reset();
      connect();
      return true;
    }
    const json::value object = parsed(event->object);
    const std::string name(kube::name_of(object));
    revision_ = number(event->resource_version);
    if (event->type == kube::WatchEvent::Type::deleted)
      cache_.erase(name);
    else
      cache_[name] = event->resource_version;
    return true;
  }

  static store::Revision number(std::string_view text) {
    return static_cast<store::Revision>(std::stoull(std::string(text)));
  }

  ApiFixture& api_;
  SeededRandom random_;
  kube::WatchOptions options_;
  std::unique_ptr<kube::Watch> watch_;
  Cache cache_;
  store::Revision revision_ = 0;
};

TEST(InformerTorture, every_cache_equals_the_final_list) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    ApiFixture api;
    SeededRandom random(seed);
    std::vector<std::unique_ptr<Follower>> followers;
    for (std::uint64_t i = 0; i < 10; ++i)
      followers.push_back(
          std::make_unique<Follower>(api, seed * 100 + i, kube::WatchOptions{.ns = "default"}));
    for (int i = 0; i < 300; ++i) {
      const std::string name = fmt::format("m{}", random.below(20));
      const kube::ObjectPath path{"default", name};
      const json::value object{{"metadata", {{"name", name}}},
                               {"data", {{"n", std::to_string(i)}}}};
      switch (random.below(3)) {
        case 0:
          (void)api.run(api.client->create(res::config_maps, {"default", ""}, object));
          break;
        case 1:
          (void)api.run(api.client->update(res::config_maps, path, object));
          break;
        default:
          (void)api.run(api.client->remove(res::config_maps, path));
      }
      followers[random.below(followers.size())]->step();
    }
    // Every follower sees the last write, so each one knows when it is done.
    const json::value last{{"metadata", {{"name", "last"}}}};
    ASSERT_TRUE(api.run(api.client->create(res::config_maps, {"default", ""}, last)));
    auto list = api.run(api.client->list(res::config_maps, {.ns = "default"}));
    Cache want;
    for (const json::value& item : list->at("items").as_array())
      want[std::string(kube::name_of(item))] = kube::resource_version_of(item);
    for (auto& follower : followers) {
      follower->catch_up();
      EXPECT_EQ(follower->cache(), want) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace plim::local::apiserver::testing
