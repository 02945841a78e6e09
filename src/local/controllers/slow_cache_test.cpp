// A cache that lags behind the API must not make a controller act twice, or too much.
#include <gtest/gtest.h>

#include "base/event.hpp"
#include "local/controllers/testing/controllers_fixture.hpp"

namespace plim::local::controllers {
namespace {

using kube::resources::config_maps;
using kube::resources::jobs;
using kube::resources::pods;
using kube::resources::replica_sets;

struct Gate {
  explicit Gate(const Executor& loop) : changed(loop) {}

  bool open = true;
  Event changed;
};

class HeldWatch final : public kube::Watch {
 public:
  HeldWatch(std::unique_ptr<kube::Watch> inner, std::shared_ptr<Gate> gate)
      : inner_(std::move(inner)), gate_(std::move(gate)) {}

  Task<Result<std::optional<std::string>>> next() override {
    auto line = co_await inner_->next();
    while (!gate_->open) co_await gate_->changed.wait();
    co_return line;
  }

 private:
  std::unique_ptr<kube::Watch> inner_;
  std::shared_ptr<Gate> gate_;
};

// Passes everything on, but events of pods only while the gate is open.
class LaggingClient final : public kube::Client {
 public:
  LaggingClient(std::shared_ptr<kube::Client> inner, std::shared_ptr<Gate> gate)
      : inner_(std::move(inner)), gate_(std::move(gate)) {}

  template <class T>
  using Answer = Task<Result<T>>;
  using Kind = kube::Resource;
  using Path = kube::ObjectPath;

  Answer<json::value> get(Kind kind, Path path) override { return inner_->get(kind, path); }

  Answer<std::string> list_page(Kind kind, kube::ListOptions options) override {
    return inner_->list_page(kind, options);
  }

  Answer<json::value> list(Kind kind, kube::ListOptions options) override {
    return inner_->list(kind, options);
  }

  Answer<std::unique_ptr<kube::Watch>> watch(Kind kind, kube::WatchOptions options) override {
    PLIM_CO_TRY(std::unique_ptr<kube::Watch> opened, co_await inner_->watch(kind, options));
    if (kind.plural != "pods") co_return opened;
    std::unique_ptr<kube::Watch> held = std::make_unique<HeldWatch>(std::move(opened), gate_);
    co_return held;
  }

  Answer<json::value> create(Kind kind, Path path, json::value object,
                             kube::WriteOptions options) override {
    return inner_->create(kind, path, std::move(object), options);
  }

  Answer<json::value> update(Kind kind, Path path, json::value object,
                             kube::WriteOptions options) override {
    return inner_->update(kind, path, std::move(object), options);
  }

  Answer<json::value> patch(Kind kind, Path path, kube::PatchType type, json::value body,
                            kube::WriteOptions options) override {
    return inner_->patch(kind, path, type, std::move(body), options);
  }

  Answer<json::value> remove(Kind kind, Path path, kube::DeleteOptions options) override {
    return inner_->remove(kind, path, options);
  }

  Answer<json::value> remove_collection(Kind kind, kube::ListOptions which,
                                        kube::DeleteOptions options) override {
    return inner_->remove_collection(kind, which, options);
  }

  Answer<net::Response> raw(net::Request request, net::CallOptions options) override {
    return inner_->raw(std::move(request), options);
  }

  Answer<std::unique_ptr<net::ResponseStream>> raw_stream(net::Request request,
                                                          net::CallOptions options) override {
    return inner_->raw_stream(std::move(request), options);
  }

  const kube::Config& config() const override { return inner_->config(); }

 private:
  std::shared_ptr<kube::Client> inner_;
  std::shared_ptr<Gate> gate_;
};

class SlowCache : public testing::ControllersTest {
 protected:
  void start_lagging(std::string_view which) {
    ControllersOptions options;
    options.enabled = *parse_controllers(which);
    gate = std::make_shared<Gate>(loop.executor());
    controllers = std::make_unique<Controllers>(
        loop.executor(), std::make_shared<LaggingClient>(client, gate), clock, options);
    controllers->start();
    settle();
  }

  void set_gate(bool open) {
    gate->open = open;
    gate->changed.notify();
    settle();
  }

  void touch(const kube::Resource& kind, const std::string& name) {
    edit(kind, name, [&](json::value& object) {
      make_object(object, {"metadata", "annotations"})["touched"] = fmt::format("{}", ++touches);
    });
    settle();
  }

  std::shared_ptr<Gate> gate;
  int touches = 0;
};

TEST_F(SlowCache, a_replica_set_never_creates_more_than_it_wants) {
  start_lagging("replicaset");
  set_gate(false);
  create(replica_sets, testing::deployment("web", 3));
  settle();
  for (int i = 0; i < 5; ++i) touch(replica_sets, "web");
  EXPECT_EQ(list(pods).size(), 3u);
  set_gate(true);
  EXPECT_EQ(list(pods).size(), 3u);
  EXPECT_EQ(int_at(get(replica_sets, "web"), {"status", "replicas"}), 3);
}

TEST_F(SlowCache, a_replica_set_never_deletes_more_than_it_must) {
  start_lagging("replicaset");
  create(replica_sets, testing::deployment("web", 6));
  settle();
  set_gate(false);
  edit(replica_sets, "web",
       [](json::value& object) { make_object(object, {"spec"})["replicas"] = 4; });
  settle();
  for (int i = 0; i < 5; ++i) touch(replica_sets, "web");
  EXPECT_EQ(list(pods).size(), 4u);
  set_gate(true);
  EXPECT_EQ(list(pods).size(), 4u);
}

TEST_F(SlowCache, a_job_starts_each_pod_once) {
  start_lagging("job");
  set_gate(false);
  create(jobs, testing::job("j", R"({"parallelism":2,"completions":2})"));
  settle();
  for (int i = 0; i < 5; ++i) touch(jobs, "j");
  EXPECT_EQ(list(pods).size(), 2u);
  for (const json::value& pod : list(pods)) set_phase(std::string(kube::name_of(pod)), "Succeeded");
  set_gate(true);
  EXPECT_EQ(list(pods).size(), 2u);
  EXPECT_EQ(int_at(get(jobs, "j"), {"status", "succeeded"}), 2);
}

TEST_F(SlowCache, a_dependent_that_is_seen_late_is_orphaned_too) {
  start_lagging("garbagecollector");
  const json::value owner = create(config_maps, {{"metadata", {{"name", "owner"}}}});
  json::value pod = testing::pod_template();
  make_object(pod, {"metadata"})["name"] = "late";
  ASSERT_TRUE(kube::set_owner(pod, testing::reference_to(config_maps, owner)));
  settle();
  set_gate(false);
  create(pods, std::move(pod));
  remove(config_maps, "owner", "Orphan");
  settle();
  EXPECT_FALSE(get(config_maps, "owner").is_object());
  set_gate(true);
  ASSERT_TRUE(get(pods, "late").is_object());
  EXPECT_TRUE(kube::owners_of(get(pods, "late")).empty());
}

}  // namespace
}  // namespace plim::local::controllers
