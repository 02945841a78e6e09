#include "local/cluster/cluster.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/loop.hpp"
#include "base/testing/temp_dir.hpp"
#include "kube/decode.hpp"
#include "kube/informer.hpp"
#include "kube/kubeconfig.hpp"

namespace plim::local::cluster {
namespace {

using namespace std::chrono_literals;
using plim::testing::TempDir;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::optional<std::string> no_environment(std::string_view) {
  return std::nullopt;
}

bool is_placed(const json::value& object) {
  return !text_at(object, {"spec", "nodeName"}).empty();
}

bool runs(const json::value& object) {
  return text_at(object, {"status", "phase"}) == "Running";
}

bool waits(const json::value& object) {
  const json::value* conditions = find(object, {"status", "conditions"});
  return conditions != nullptr && to_json(*conditions).find("Unschedulable") != std::string::npos;
}

bool is_established(const json::value& definition) {
  const json::value* conditions = find(definition, {"status", "conditions"});
  return conditions != nullptr &&
         to_json(*conditions).find("InitialNamesAccepted") != std::string::npos;
}

// One cluster, on the loop of the test.
class ClusterTest : public ::testing::Test {
 protected:
  ClusterOptions options() {
    ClusterOptions out;
    out.directories = {.name = "t", .state = temp_ / "state", .run = temp_ / "run"};
    out.listen = FrontAddress{.port = 0, .fixed = true};
    out.durability = Durability::none;
    out.nodes.count = 0;
    return out;
  }

  Task<Result<void>> up(ClusterOptions options) {
    Executor loop = co_await current_loop();
    cluster_ = std::make_unique<Cluster>(loop, system_clock(), std::move(options));
    co_return co_await cluster_->start();
  }

  Task<void> down() {
    co_await cluster_->stop();
    cluster_.reset();
  }

  static Task<json::value> create(std::shared_ptr<kube::Client> client, kube::Resource resource,
                                  json::value object) {
    kube::ObjectPath path{.ns = resource.namespaced ? "default" : "", .name = ""};
    auto made = co_await client->create(resource, path, std::move(object));
    EXPECT_TRUE(made) << made.error().message;
    co_return made.value_or(json::value());
  }

  // Waits until `good` accepts the object and returns it; null after ten seconds.
  static Task<json::value> wait_for(std::shared_ptr<kube::Client> client, kube::Resource resource,
                                    std::string name, bool (*good)(const json::value&)) {
    kube::ObjectPath path{.ns = resource.namespaced ? "default" : "", .name = std::move(name)};
    SteadyTime deadline = system_clock().steady() + 10s;
    while (system_clock().steady() < deadline) {
      auto found = co_await client->get(resource, path);
      if (found && good(*found)) co_return std::move(*found);
      co_await system_clock().sleep(5ms);
    }
    co_return json::value();
  }

  static json::value node(std::string_view name, std::string_view cpu) {
    json::object resources{{"cpu", cpu}, {"memory", "1Gi"}, {"pods", "10"}};
    json::object ready{{"type", "Ready"}, {"status", "True"}};
    return json::object{{"metadata", {{"name", name}}},
                        {"status",
                         {{"capacity", resources},
                          {"allocatable", resources},
                          {"conditions", json::array{ready}}}}};
  }

  static json::value pod(std::string_view name, std::string_view cpu) {
    json::object container{
        {"name", "c"}, {"image", "x"}, {"resources", {{"requests", {{"cpu", cpu}}}}}};
    json::array anywhere{json::object{{"operator", "Exists"}}};  // the node is never Ready
    return json::object{
        {"metadata", {{"name", name}}},
        {"spec", {{"containers", json::array{container}}, {"tolerations", std::move(anywhere)}}}};
  }

  Task<int> tell_milestones() {
    ClusterOptions wanted = options();
    wanted.milestone = [this](std::string what, Nanos) { milestones_.push_back(std::move(what)); };
    auto started = co_await up(std::move(wanted));
    EXPECT_TRUE(started) << started.error().message;
    kube::ConfigOverrides overrides{.kubeconfig = cluster_->kubeconfig()};
    auto config = kube::load_config(overrides, no_environment);
    EXPECT_TRUE(config);
    Executor loop = co_await current_loop();
    auto client = kube::Client::create(loop, *config);
    EXPECT_TRUE(client);
    kube::ObjectPath path{.ns = "", .name = "default"};
    auto found = co_await (*client)->get(kube::resources::namespaces, path);
    EXPECT_TRUE(found) << found.error().message;
    co_await down();
    co_return 0;
  }

  Task<int> run_twice() {
    auto started = co_await up(options());
    EXPECT_TRUE(started);
    Executor loop = co_await current_loop();
    Cluster second(loop, system_clock(), options());
    auto again = co_await second.start();
    EXPECT_FALSE(again);
    if (!again) {
      EXPECT_EQ(again.error().code, Code::already_exists);
    }
    co_await second.stop();
    EXPECT_TRUE(holder_of(temp_ / "run/lock"));
    co_await down();
    EXPECT_FALSE(holder_of(temp_ / "run/lock"));
    co_return 0;
  }

  Task<int> place_pods() {
    auto started = co_await up(options());
    EXPECT_TRUE(started);
    apiserver::User admin{.name = "admin", .groups = {"system:masters"}};
    auto client = cluster_->api().client(admin);
    co_await create(client, kube::resources::nodes, node("n1", "1"));
    co_await create(client, kube::resources::pods, pod("fits", "500m"));
    co_await create(client, kube::resources::pods, pod("large", "2"));
    json::value fits = co_await wait_for(client, kube::resources::pods, "fits", is_placed);
    EXPECT_EQ(text_at(fits, {"spec", "nodeName"}), "n1");
    json::value large = co_await wait_for(client, kube::resources::pods, "large", waits);
    EXPECT_THAT(to_json(large), HasSubstr("0/1 nodes are available: 1 Insufficient cpu."));
    // A node that can take it appears.
    co_await create(client, kube::resources::nodes, node("n2", "4"));
    large = co_await wait_for(client, kube::resources::pods, "large", is_placed);
    EXPECT_EQ(text_at(large, {"spec", "nodeName"}), "n2");
    co_await down();
    co_return 0;
  }

  Task<int> tell_usage() {
    ClusterOptions wanted = options();
    wanted.simulated_nodes = 1;
    auto started = co_await up(std::move(wanted));
    EXPECT_TRUE(started);
    apiserver::User admin{.name = "admin", .groups = {"system:masters"}};
    auto client = cluster_->api().client(admin);
    json::value busy = pod("busy", "100m");
    make_object(busy, {"metadata"})["labels"] = json::object{{"app", "busy"}};
    make_object(busy, {"metadata"})["annotations"] =
        json::object{{"plimsoll.io/sim-cpu", "250m"}, {"plimsoll.io/sim-memory", "64Mi"}};
    co_await create(client, kube::resources::pods, std::move(busy));
    co_await create(client, kube::resources::pods, pod("idle", "100m"));
    co_await wait_for(client, kube::resources::pods, "busy", runs);
    co_await wait_for(client, kube::resources::pods, "idle", runs);
    const kube::Resource pods{
        .group = "metrics.k8s.io", .version = "v1beta1", .plural = "pods", .kind = "PodMetrics"};
    kube::ListOptions selected{.ns = "default", .label_selector = "app=busy"};
    auto listed = co_await client->list(pods, std::move(selected));
    EXPECT_TRUE(listed) << listed.error().message;
    const json::array items = listed ? listed->at("items").as_array() : json::array();
    EXPECT_EQ(items.size(), 1u);
    if (items.size() == 1) {
      EXPECT_EQ(text_at(items[0], {"metadata", "name"}), "busy");
      EXPECT_EQ(text_at(items[0], {"metadata", "labels", "app"}), "busy");
      const json::value& container = items[0].at("containers").at(0);
      EXPECT_EQ(text_at(container, {"usage", "cpu"}), "250000000n");
      EXPECT_EQ(text_at(container, {"usage", "memory"}), "65536Ki");
    }
    kube::Resource nodes = pods;
    nodes.plural = "nodes";
    nodes.kind = "NodeMetrics";
    nodes.namespaced = false;
    kube::ObjectPath simulated{.ns = "", .name = "sim-1"};
    auto used = co_await client->get(nodes, std::move(simulated));
    EXPECT_TRUE(used) << used.error().message;
    if (used) {
      EXPECT_EQ(text_at(*used, {"usage", "cpu"}), "250000000n");
    }
    kube::ObjectPath nobody{.ns = "", .name = "nobody"};
    auto missing = co_await client->get(nodes, std::move(nobody));
    EXPECT_FALSE(missing);
    if (!missing) {
      EXPECT_EQ(missing.error().code, Code::not_found);
    }
    co_await down();
    co_return 0;
  }

  static json::value gadget_definition() {
    constexpr std::string_view kText = R"({"metadata":{"name":"gadgets.example.com"},"spec":{
        "group":"example.com","scope":"Namespaced","names":{"plural":"gadgets","kind":"Gadget"},
        "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{
        "type":"object","properties":{"size":{"type":"integer","default":3}}}}}]}})";
    return parse_json(kText).value();
  }

  static json::value webhook_with(std::string_view expression) {
    json::object condition{{"name", "c"}, {"expression", expression}};
    json::object webhook{{"name", "w.example.com"},
                         {"clientConfig", {{"url", "https://127.0.0.1:1/"}}},
                         {"sideEffects", "None"},
                         {"admissionReviewVersions", json::array{"v1"}},
                         {"matchConditions", json::array{std::move(condition)}}};
    return json::object{{"metadata", {{"name", "w"}}}, {"webhooks", json::array{webhook}}};
  }

  Task<int> extend() {
    auto started = co_await up(options());
    EXPECT_TRUE(started);
    apiserver::User admin{.name = "admin", .groups = {"system:masters"}};
    auto client = cluster_->api().client(admin);
    const kube::Resource definitions = kube::resources::custom_resource_definitions;
    co_await create(client, definitions, gadget_definition());
    co_await wait_for(client, definitions, "gadgets.example.com", is_established);
    const kube::Resource gadgets{
        .group = "example.com", .version = "v1", .plural = "gadgets", .kind = "Gadget"};
    json::value bare = json::object{{"metadata", {{"name", "g"}}}};
    json::value gadget = co_await create(client, gadgets, std::move(bare));
    EXPECT_EQ(int_at(gadget, {"size"}), 3);
    kube::ObjectPath anywhere{.ns = "", .name = ""};
    auto refused = co_await client->create(kube::resources::validating_webhook_configurations,
                                           anywhere, webhook_with("size(object) > 1"));
    EXPECT_FALSE(refused);
    if (!refused) {
      EXPECT_EQ(refused.error().code, Code::invalid);
    }
    co_await down();
    co_return 0;
  }

  // As a client on the network sees it: the server stops and returns with the objects it had.
  Task<int> follow_through_a_restart() {
    ClusterOptions wanted = options();
    wanted.durability = Durability::os;
    auto started = co_await up(wanted);
    EXPECT_TRUE(started);
    kube::ConfigOverrides overrides{.kubeconfig = cluster_->kubeconfig()};
    auto config = kube::load_config(overrides, no_environment);
    Executor loop = co_await current_loop();
    auto remote = kube::Client::create(loop, *config);
    informer_ = std::make_unique<kube::Informer<kube::Pod>>(loop, *remote, kube::resources::pods,
                                                            kube::pod_codec(pool_));
    informer_->start();
    co_await informer_->wait_synced();
    std::string_view url = cluster_->url();
    auto address = parse_front_address(url.substr(url.rfind('/') + 1));
    co_await down();
    wanted.listen = *address;
    started = co_await up(wanted);
    EXPECT_TRUE(started) << started.error().message;
    apiserver::User admin{.name = "admin", .groups = {"system:masters"}};
    auto client = cluster_->api().client(admin);
    co_await create(client, kube::resources::pods, pod("after", "1"));
    SteadyTime deadline = system_clock().steady() + 5s;
    while (!informer_->store().find("default/after") && system_clock().steady() < deadline)
      co_await system_clock().sleep(5ms);
    EXPECT_TRUE(informer_->store().find("default/after"));
    co_await informer_->stop();
    informer_.reset();  // before the loop
    co_await down();
    co_return 0;
  }

  TempDir temp_;
  kube::InternPool pool_;
  std::unique_ptr<kube::Informer<kube::Pod>> informer_;
  std::vector<std::string> milestones_;
  std::unique_ptr<Cluster> cluster_;
};

TEST_F(ClusterTest, reports_milestones_and_writes_a_kubeconfig_that_works) {
  Loop loop;
  loop.run(tell_milestones());
  EXPECT_THAT(milestones_, ElementsAre(HasSubstr("store open"), HasSubstr("https://127.0.0.1:"),
                                       HasSubstr("ready")));
}

TEST_F(ClusterTest, refuses_to_run_twice) {
  Loop loop;
  loop.run(run_twice());
}

TEST_F(ClusterTest, can_be_extended_by_kinds_and_webhooks) {
  Loop loop;
  loop.run(extend());
}

TEST_F(ClusterTest, places_pods_and_says_why_one_must_wait) {
  Loop loop;
  loop.run(place_pods());
}

TEST_F(ClusterTest, reports_what_nodes_and_pods_use) {
  Loop loop;
  loop.run(tell_usage());
}

TEST_F(ClusterTest, lets_informers_continue_after_a_restart) {
  Loop loop;
  loop.run(follow_through_a_restart());
}

}  // namespace
}  // namespace plim::local::cluster
