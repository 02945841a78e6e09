// Informers that lose their connection again and again while others write: are their caches right?
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/random.hpp"
#include "kube/informer.hpp"
#include "kube/interned.hpp"
#include "load.hpp"

namespace plim::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kNamesOfAWriter = 25;
constexpr std::uint64_t kEventsBetweenCuts = 400;  // at most
constexpr std::string_view kMine = "plimsoll-load";
using Versions = std::map<std::string, std::string, std::less<>>;  // of objects by key

std::string maps_path(std::string_view name) {
  return fmt::format("/api/v1/namespaces/{}/configmaps{}{}", kNamespace, name.empty() ? "" : "/",
                     name);
}

// A watch that breaks off after some events, now and then with the word that its version is gone.
class CutWatch final : public kube::Watch {
 public:
  CutWatch(std::unique_ptr<kube::Watch> whole, std::uint64_t events, Code code, double& cuts)
      : whole_(std::move(whole)), left_(events), code_(code), cuts_(cuts) {}

  Task<Result<std::optional<std::string>>> next() override {
    if (left_ == 0) {
      if (whole_) ++cuts_;
      whole_.reset();
      co_return fail(code_, "cut off");
    }
    --left_;
    auto line = co_await whole_->next();
    co_return line;
  }

 private:
  std::unique_ptr<kube::Watch> whole_;
  std::uint64_t left_;
  Code code_;
  double& cuts_;
};

// One connection's cluster, whose watches do not last.
class CuttingClient final : public kube::Client {
 public:
  CuttingClient(std::shared_ptr<kube::Client> whole, std::uint64_t seed, double& cuts)
      : whole_(std::move(whole)), random_(seed), cuts_(cuts) {}

  bool calm = false;  // from now on nothing is cut any more

  Task<Result<std::unique_ptr<kube::Watch>>> watch(kube::Resource resource,
                                                   kube::WatchOptions options) override {
    PLIM_CO_TRY(std::unique_ptr<kube::Watch> opened,
                co_await whole_->watch(std::move(resource), std::move(options)));
    if (calm) co_return opened;
    const std::uint64_t events = random_.below(kEventsBetweenCuts);
    const Code code = random_.below(8) == 0 ? Code::expired : Code::unavailable;
    co_return std::make_unique<CutWatch>(std::move(opened), events, code, cuts_);
  }

  Task<Result<json::value>> get(kube::Resource resource, kube::ObjectPath path) override {
    return whole_->get(std::move(resource), std::move(path));
  }

  Task<Result<std::string>> list_page(kube::Resource resource, kube::ListOptions options) override {
    return whole_->list_page(std::move(resource), std::move(options));
  }

  Task<Result<json::value>> list(kube::Resource resource, kube::ListOptions options) override {
    return whole_->list(std::move(resource), std::move(options));
  }

  Task<Result<json::value>> create(kube::Resource resource, kube::ObjectPath path,
                                   json::value object, kube::WriteOptions options) override {
    return whole_->create(std::move(resource), std::move(path), std::move(object),
                          std::move(options));
  }

  Task<Result<json::value>> update(kube::Resource resource, kube::ObjectPath path,
                                   json::value object, kube::WriteOptions options) override {
    return whole_->update(std::move(resource), std::move(path), std::move(object),
                          std::move(options));
  }

  Task<Result<json::value>> patch(kube::Resource resource, kube::ObjectPath path,
                                  kube::PatchType type, json::value patch,
                                  kube::WriteOptions options) override {
    return whole_->patch(std::move(resource), std::move(path), type, std::move(patch),
                         std::move(options));
  }

  Task<Result<json::value>> remove(kube::Resource resource, kube::ObjectPath path,
                                   kube::DeleteOptions options) override {
    return whole_->remove(std::move(resource), std::move(path), std::move(options));
  }

  Task<Result<json::value>> remove_collection(kube::Resource resource, kube::ListOptions which,
                                              kube::DeleteOptions options) override {
    return whole_->remove_collection(std::move(resource), std::move(which), std::move(options));
  }

  Task<Result<net::Response>> raw(net::Request request, net::CallOptions options) override {
    return whole_->raw(std::move(request), std::move(options));
  }

  Task<Result<std::unique_ptr<net::ResponseStream>>> raw_stream(net::Request request,
                                                                net::CallOptions options) override {
    return whole_->raw_stream(std::move(request), std::move(options));
  }

  const kube::Config& config() const override { return whole_->config(); }

 private:
  std::shared_ptr<kube::Client> whole_;
  SeededRandom random_;
  double& cuts_;
};

// An informer and a second copy of its cache, kept by what its handlers are told.
class Follower {
 public:
  Follower(const Executor& loop, std::shared_ptr<CuttingClient> client, kube::InternPool& pool,
           kube::ReflectorOptions options)
      : client_(client),
        informer_(loop, client, kube::resources::config_maps, kube::meta_codec(pool),
                  std::move(options)) {
    using Pointer = std::shared_ptr<const kube::ObjectMeta>;
    informer_.add_handlers(
        {.on_add = [this](const Pointer& now) { note_added(*now); },
         .on_update = [this](const Pointer& before,
                             const Pointer& now) { note_changed(*before, *now); },
         .on_delete = [this](const Pointer& last) { note_gone(*last); }});
    informer_.start();
  }

  void calm_down() { client_->calm = true; }

  Task<void> stop() { return informer_.stop(); }

  bool synced() const { return informer_.synced(); }

  bool is(const Versions& want) const {
    Versions cache;
    for (const auto& [key, object] : informer_.store()) cache[key] = object->resource_version;
    return cache == want && told_ == want;
  }

  std::size_t mistakes() const { return mistakes_; }

  const kube::Reflector::Stats& stats() const { return informer_.stats(); }

 private:
  void note_added(const kube::ObjectMeta& now) {
    if (!told_.emplace(kube::object_key(now), now.resource_version).second) ++mistakes_;
  }

  void note_changed(const kube::ObjectMeta& before, const kube::ObjectMeta& now) {
    auto known = told_.find(kube::object_key(now));
    if (known == told_.end() || known->second != before.resource_version) ++mistakes_;
    told_[kube::object_key(now)] = now.resource_version;
  }

  void note_gone(const kube::ObjectMeta& last) {
    if (told_.erase(kube::object_key(last)) == 0) ++mistakes_;
  }

  std::shared_ptr<CuttingClient> client_;
  Versions told_;
  std::size_t mistakes_ = 0;
  kube::Informer<kube::ObjectMeta> informer_;
};

// Makes, changes and deletes objects of its own, so that every one of its requests must succeed.
class Writer {
 public:
  explicit Writer(std::size_t number) : number_(number), random_(number + 1) {}

  net::Request next() {
    const std::uint64_t which = random_.below(kNamesOfAWriter);
    const std::string name = fmt::format("w{}-{}", number_, which);
    bool& exists = exists_[which];
    const std::string_view half = random_.below(2) == 0 ? "left" : "right";
    const std::string labels = fmt::format(R"({{"app":"{}","writer":"{}","half":"{}","n":"{}"}})",
                                           kMine, number_, half, ++count_);
    if (!exists) {
      exists = true;
      return json_request(
          "POST", maps_path(""),
          fmt::format(R"({{"metadata":{{"name":"{}","labels":{}}}}})", name, labels));
    }
    if (random_.below(4) == 0) {
      exists = false;
      return json_request("DELETE", maps_path(name), "");
    }
    net::Request out = json_request("PATCH", maps_path(name),
                                    fmt::format(R"({{"metadata":{{"labels":{}}}}})", labels));
    out.headers.set("Content-Type", "application/merge-patch+json");
    return out;
  }

 private:
  std::size_t number_;
  SeededRandom random_;
  std::size_t count_ = 0;
  bool exists_[kNamesOfAWriter] = {};
};

class Torture {
 public:
  Torture(Executor loop, LoadOptions options)
      : loop_(std::move(loop)), options_(std::move(options)), group_(loop_) {}

  Task<Result<Numbers>> run() {
    auto out = co_await measure();
    co_await group_.stop();
    for (auto& follower : followers_) co_await follower->stop();
    if (out && !options_.keep) PLIM_CO_CHECK(co_await clear());
    co_return out;
  }

 private:
  Task<Result<Numbers>> measure();
  Task<Result<void>> clear();
  Task<Result<void>> start_followers();
  Task<Result<void>> write_all();
  Task<void> write_on(std::size_t connection);
  Task<Result<void>> wait_for_caches();
  Task<Result<Versions>> list(std::string selector);

  // A few follow everything, a few a part that objects enter and leave, most what one writer does.
  std::string selector_of(std::size_t follower) const {
    if (follower % 5 == 0) return fmt::format("app={}", kMine);
    if (follower % 5 == 1) return fmt::format("app={},half=left", kMine);
    return fmt::format("app={},writer={}", kMine, follower % options_.connections);
  }

  Executor loop_;
  LoadOptions options_;
  kube::InternPool pool_;
  std::vector<std::shared_ptr<kube::Client>> clients_;
  std::vector<std::unique_ptr<Follower>> followers_;
  double cuts_ = 0;
  std::size_t sent_ = 0, objects_ = 0;
  Result<void> outcome_;
  TaskGroup group_;
};

Task<Result<void>> Torture::clear() {
  net::Request request =
      json_request("DELETE", fmt::format("{}?labelSelector=app%3D{}", maps_path(""), kMine), "");
  auto gone = co_await call(*clients_.front(), std::move(request));
  if (!gone) co_return std::move(gone).error();
  co_return Result<void>();
}

Task<Result<void>> Torture::start_followers() {
  PLIM_CO_TRY(auto watching, connect(loop_, options_, options_.watchers));
  for (std::size_t i = 0; i < watching.size(); ++i) {
    kube::ReflectorOptions options;
    options.ns = kNamespace;
    options.label_selector = selector_of(i);
    options.watch_list = i % 2 == 0;
    options.page_size = 20;
    options.backoff = {.first = 1ms, .limit = 20ms};
    auto client = std::make_shared<CuttingClient>(watching[i], i, cuts_);
    followers_.push_back(std::make_unique<Follower>(loop_, client, pool_, std::move(options)));
  }
  const SteadyTime end = system_clock().steady() + options_.limit;
  auto synced = [this] {
    return std::ranges::all_of(followers_, [](const auto& one) { return one->synced(); });
  };
  while (!synced()) {
    if (system_clock().steady() > end)
      co_return fail(Code::timeout, "informers get no first state");
    co_await system_clock().sleep(1ms);
  }
  co_return Result<void>();
}

Task<void> Torture::write_on(std::size_t connection) {
  Writer writer(connection);
  while (outcome_ && sent_ < options_.writes) {
    ++sent_;
    net::Request request = writer.next();
    auto answer = co_await call(*clients_[connection], std::move(request));
    if (!answer) outcome_ = std::move(answer).error();
  }
}

Task<Result<void>> Torture::write_all() {
  for (std::size_t i = 0; i < clients_.size(); ++i) group_.spawn("writer", write_on(i));
  co_await group_.join();
  co_return outcome_;
}

Task<Result<Versions>> Torture::list(std::string selector) {
  kube::ListOptions options;
  options.ns = kNamespace;
  options.label_selector = std::move(selector);
  PLIM_CO_TRY(json::value found,
              co_await clients_.front()->list(kube::resources::config_maps, std::move(options)));
  Versions out;
  for (const json::value& item : found.at("items").as_array())
    out[kube::object_key(kNamespace, text_at(item, {"metadata", "name"}))] =
        text_at(item, {"metadata", "resourceVersion"});
  co_return out;
}

Task<Result<void>> Torture::wait_for_caches() {
  for (auto& follower : followers_) follower->calm_down();
  const SteadyTime end = system_clock().steady() + options_.limit;
  for (std::size_t i = 0; i < followers_.size(); ++i) {
    const Follower& follower = *followers_[i];
    PLIM_CO_TRY(const Versions want, co_await list(selector_of(i)));
    while (!follower.is(want)) {
      if (system_clock().steady() > end)
        co_return fail(Code::internal, fmt::format("the cache of informer {} is wrong", i));
      co_await system_clock().sleep(1ms);
    }
    if (follower.mistakes() > 0)
      co_return fail(Code::internal, fmt::format("informer {} told {} changes that do not follow",
                                                 i, follower.mistakes()));
    objects_ = std::max(objects_, want.size());
  }
  co_return Result<void>();
}

Task<Result<Numbers>> Torture::measure() {
  PLIM_CO_TRY(clients_, connect(loop_, options_, options_.connections));
  PLIM_CO_CHECK(co_await make_namespace(*clients_.front()));
  PLIM_CO_CHECK(co_await clear());
  PLIM_CO_CHECK(co_await start_followers());
  const SteadyTime start = system_clock().steady();
  PLIM_CO_CHECK(co_await write_all());
  const Seconds writing = system_clock().steady() - start;
  const double cuts = cuts_;
  const SteadyTime written = system_clock().steady();
  PLIM_CO_CHECK(co_await wait_for_caches());
  double lists = 0, events = 0;
  for (const auto& follower : followers_) {
    lists += static_cast<double>(follower->stats().lists);
    events += static_cast<double>(follower->stats().events);
  }
  Numbers out{{"informers", static_cast<double>(followers_.size())},
              {"writes", static_cast<double>(sent_)},
              {"writes_per_second", static_cast<double>(sent_) / writing.count()},
              {"objects", static_cast<double>(objects_)},
              {"cuts", cuts},
              {"lists", lists},
              {"events", events},
              {"caches_right", static_cast<double>(followers_.size())},
              {"settled_ms", 1e3 * Seconds(system_clock().steady() - written).count()}};
  co_return out;
}

}  // namespace

Task<Result<Numbers>> load_torture(Executor loop, LoadOptions options) {
  Torture torture(std::move(loop), std::move(options));
  co_return co_await torture.run();
}

}  // namespace plim::bench
