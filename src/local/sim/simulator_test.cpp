#include "local/sim/simulator.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/rfc3339.hpp"
#include "local/apiserver/crd/custom_resources.hpp"
#include "local/apiserver/testing/api_fixture.hpp"
#include "loop/image_inventory.hpp"

namespace plim::local::sim {
namespace {

using namespace std::chrono_literals;
using apiserver::testing::parsed;

class SimulatorTest : public apiserver::testing::ApiTest {
 protected:
  void simulate(SimulatorOptions options) {
    simulator_ =
        std::make_unique<Simulator>(loop.executor(), client, clock, std::move(options), random_);
    ASSERT_TRUE(run(simulator_->start()));
    settle();
  }

  void TearDown() override {
    if (simulator_) run_to_end(loop, simulator_->stop());
  }

  // Runs everything that is due without advancing the clock.
  void settle() {
    for (int i = 0; i < 200; ++i) loop.run_ready();
  }

  void pass(Nanos duration) {
    const SteadyTime until = clock.steady() + duration;
    while (clock.steady() < until) {
      clock.advance(std::min<Nanos>(100ms, until - clock.steady()));
      for (int i = 0; i < 20; ++i) loop.run_ready();
    }
    settle();
  }

  json::value get(const kube::Resource& resource, std::string name, std::string ns = "") {
    auto object = run(client->get(resource, {std::move(ns), std::move(name)}));
    return object ? *object : json::value();
  }

  json::value pod(std::string name) {
    return get(kube::resources::pods, std::move(name), "default");
  }

  std::string phase(std::string name) {
    return std::string(text_at(pod(std::move(name)), {"status", "phase"}));
  }

  void make_pod(std::string_view name, json::object annotations = {},
                std::string_view policy = "Always", std::string_view image = "app:1",
                std::string_view node = "sim-1") {
    json::value made = apiserver::testing::simple_pod(name);
    make_object(made, {"metadata"})["annotations"] = std::move(annotations);
    json::object& spec = make_object(made, {"spec"});
    spec["nodeName"] = node;
    spec["restartPolicy"] = policy;
    spec["containers"].at(0).as_object()["image"] = image;
    auto created = run(client->create(kube::resources::pods, {"default", ""}, made));
    ASSERT_TRUE(created) << created.error().message;
    settle();
  }

  SeededRandom random_{1};
  std::unique_ptr<Simulator> simulator_;
};

TEST_F(SimulatorTest, makes_ready_nodes_with_leases) {
  simulate({.nodes = 3});
  EXPECT_EQ(simulator_->nodes(), 3u);
  const json::value node = get(kube::resources::nodes, "sim-2");
  EXPECT_EQ(text_at(node, {"status", "conditions"}), "");
  EXPECT_EQ(text_at(node.at("status").at("conditions").at(3), {"status"}), "True");
  EXPECT_EQ(text_at(node, {"status", "allocatable", "cpu"}), "32");
  pass(21s);
  const json::value lease = get(kube::resources::leases, "sim-2", "kube-node-lease");
  EXPECT_EQ(text_at(lease, {"spec", "holderIdentity"}), "sim-2");
  const std::string first(text_at(lease, {"spec", "renewTime"}));
  pass(21s);
  EXPECT_GT(std::string(text_at(get(kube::resources::leases, "sim-2", "kube-node-lease"),
                                {"spec", "renewTime"})),
            first);
}

TEST_F(SimulatorTest, runs_pods_until_they_are_deleted) {
  simulate({.nodes = 1});
  make_pod("a");
  const json::value running = pod("a");
  EXPECT_EQ(text_at(running, {"status", "phase"}), "Running");
  EXPECT_EQ(text_at(running, {"status", "podIP"}), "10.128.0.1");
  EXPECT_EQ(text_at(running, {"status", "hostIP"}), "10.0.0.1");
  EXPECT_EQ(running.at("status").at("conditions").as_array().size(), 5u);
  const json::value& status = running.at("status").at("containerStatuses").at(0);
  EXPECT_TRUE(bool_at(status, {"ready"}));
  EXPECT_TRUE(text_at(status, {"containerID"}).starts_with("containerd://"));
  EXPECT_EQ(simulator_->stats().patches, 1u) << "one request for the whole start";
  pass(1h);
  EXPECT_EQ(phase("a"), "Running");
  ASSERT_TRUE(run(client->remove(kube::resources::pods, {"default", "a"})));
  settle();
  EXPECT_TRUE(pod("a").is_null());
}

TEST_F(SimulatorTest, accepts_a_resize_at_once) {
  simulate({.nodes = 1});
  json::value made = apiserver::testing::simple_pod("a");
  make_object(made, {"metadata", "annotations"})["plimsoll.io/sim-duration"] = "10s";
  make_object(made, {"spec"})["nodeName"] = "sim-1";
  make_object(made, {"spec"})["restartPolicy"] = "Never";
  made.at("spec").at("containers").at(0).as_object()["resources"] =
      parsed(R"({"requests":{"cpu":"1"},"limits":{"memory":"1Gi"}})");
  ASSERT_TRUE(run(client->create(kube::resources::pods, {"default", ""}, made)));
  settle();
  auto status = [this] { return pod("a").at("status").at("containerStatuses").at(0); };
  EXPECT_EQ(text_at(status(), {"resources", "requests", "cpu"}), "1");
  for (std::string_view limit : {"2Gi", "3Gi"}) {
    auto resized = send("PATCH", "/api/v1/namespaces/default/pods/a/resize",
                        fmt::format(R"({{"spec":{{"containers":[{{"name":"c","resources":{{
                            "limits":{{"memory":"{}"}}}}}}]}}}})",
                                    limit),
                        {{"Content-Type", "application/strategic-merge-patch+json"}});
    ASSERT_EQ(resized.status, 200) << resized.body;
    settle();
    EXPECT_EQ(text_at(status(), {"resources", "limits", "memory"}), limit);
  }
  EXPECT_EQ(int_at(pod("a"), {"status", "observedGeneration"}), 3);
  EXPECT_EQ(phase("a"), "Running");
  pass(11s);
  EXPECT_EQ(phase("a"), "Succeeded") << "its end is not forgotten";
}

TEST_F(SimulatorTest, ends_pods_as_their_annotations_say) {
  simulate({.nodes = 1});
  make_pod("good", {{"plimsoll.io/sim-duration", "1500ms"}}, "Never");
  make_pod("bad", {{"plimsoll.io/sim-duration", "1500ms"}, {"plimsoll.io/sim-exit-code", "7"}},
           "Never");
  pass(1400ms);
  EXPECT_EQ(phase("good"), "Running");
  pass(200ms);
  EXPECT_EQ(phase("good"), "Succeeded");
  EXPECT_EQ(phase("bad"), "Failed");
  const json::value ended = pod("bad").at("status").at("containerStatuses").at(0);
  EXPECT_EQ(int_at(ended, {"state", "terminated", "exitCode"}), 7);
  EXPECT_EQ(text_at(ended, {"state", "terminated", "reason"}), "Error");
}

TEST_F(SimulatorTest, restarts_with_a_growing_wait) {
  simulate({.nodes = 1});
  make_pod("a", {{"plimsoll.io/sim-duration", "1s"}, {"plimsoll.io/sim-exit-code", "1"}},
           "OnFailure");
  auto status = [this] { return pod("a").at("status").at("containerStatuses").at(0); };
  pass(1s);
  EXPECT_EQ(int_at(status(), {"restartCount"}), 1) << "the first time at once";
  pass(1s);
  EXPECT_EQ(text_at(status(), {"state", "waiting", "reason"}), "CrashLoopBackOff");
  EXPECT_EQ(int_at(status(), {"lastState", "terminated", "exitCode"}), 1);
  EXPECT_EQ(phase("a"), "Running");
  pass(10s);
  EXPECT_EQ(int_at(status(), {"restartCount"}), 2);
  EXPECT_TRUE(bool_at(status(), {"ready"}));
  pass(12s);
  EXPECT_EQ(int_at(status(), {"restartCount"}), 2) << "now it takes twenty seconds";
  pass(10s);
  EXPECT_EQ(int_at(status(), {"restartCount"}), 3);
}

TEST_F(SimulatorTest, pods_recover_after_their_node_was_not_ready) {
  simulate({.nodes = 1});
  make_pod("stays");
  make_pod("ends", {{"plimsoll.io/sim-duration", "5s"}}, "Never");
  auto readiness = [this](std::string name) {
    const json::value now = pod(std::move(name));
    for (const json::value& one : now.at("status").at("conditions").as_array())
      if (text_at(one, {"type"}) == "Ready")
        return fmt::format("{} {}", text_at(one, {"status"}), text_at(one, {"reason"}));
    return std::string();
  };
  for (const char* name : {"stays", "ends"}) {
    json::value patch = parsed(R"({"status": {"conditions": [
        {"type": "Ready", "status": "False", "reason": "NodeNotReady"}]}})");
    auto marked = run(client->patch(kube::resources::pods, {"default", name, "status"},
                                    kube::PatchType::strategic, std::move(patch)));
    ASSERT_TRUE(marked) << marked.error().message;
    settle();
    EXPECT_EQ(readiness(name), "True ");
  }
  pass(5s);
  EXPECT_EQ(phase("stays"), "Running");
  EXPECT_EQ(phase("ends"), "Succeeded") << "at the time that was planned before";
}

TEST_F(SimulatorTest, starts_after_the_annotated_delay) {
  simulate({.nodes = 1});
  make_pod("a", {{"plimsoll.io/sim-start-delay", "5s"}});
  EXPECT_EQ(phase("a"), "Pending");
  EXPECT_EQ(
      text_at(pod("a").at("status").at("containerStatuses").at(0), {"state", "waiting", "reason"}),
      "ContainerCreating");
  pass(4800ms);
  EXPECT_EQ(phase("a"), "Pending");
  pass(300ms);
  EXPECT_EQ(phase("a"), "Running");
}

TEST_F(SimulatorTest, waits_for_images_and_reports_them) {
  images::ImageCatalog catalog(
      {.policy = images::ImagePolicy::strict, .program = "", .version = ""});
  ASSERT_TRUE(catalog.add_yaml(R"(
images:
  app:1: {layers: [{digest: base, size: 700M}, {digest: one, size: 100M}]}
  app:2: {layers: [{digest: base, size: 700M}, {digest: two, size: 100M}]}
)",
                               "c"));
  simulate(
      {.nodes = 2, .catalog = std::make_shared<const images::ImageCatalog>(std::move(catalog))});
  make_pod("a");
  pass(7900ms);
  EXPECT_EQ(phase("a"), "Pending");
  pass(200ms);
  EXPECT_EQ(phase("a"), "Running");
  make_pod("b", {}, "Always", "app:2");
  make_pod("c", {}, "Always", "app:2", "sim-2");
  make_pod("d", {}, "Always", "nowhere:1");
  pass(1100ms);
  EXPECT_EQ(phase("b"), "Running") << "only one layer was missing";
  EXPECT_EQ(phase("c"), "Pending");
  EXPECT_EQ(
      text_at(pod("d").at("status").at("containerStatuses").at(0), {"state", "waiting", "reason"}),
      "ErrImagePull");
  pass(7s);
  EXPECT_EQ(phase("c"), "Running");
  const json::value images = get(kube::resources::nodes, "sim-1").at("status").at("images");
  ASSERT_EQ(images.as_array().size(), 2u);
  EXPECT_EQ(images.at(0).at("sizeBytes"), 800'000'000);
}

TEST_F(SimulatorTest, takes_over_kwoks_nodes) {
  simulate({});
  json::value node = parsed(R"({"metadata":{"name":"k","annotations":{"kwok.x-k8s.io/node":"fake"}},
    "status":{"capacity":{"cpu":"4"}}})");
  ASSERT_TRUE(run(client->create(kube::resources::nodes, {}, node)));
  json::value other = parsed(R"({"metadata":{"name":"real"}})");
  ASSERT_TRUE(run(client->create(kube::resources::nodes, {}, other)));
  settle();
  const json::value made = get(kube::resources::nodes, "k");
  EXPECT_EQ(text_at(made, {"status", "capacity", "cpu"}), "4");
  EXPECT_EQ(text_at(made, {"status", "allocatable", "cpu"}), "4");
  EXPECT_EQ(text_at(made, {"status", "allocatable", "pods"}), "110");
  EXPECT_EQ(text_at(made.at("status").at("conditions").at(3), {"status"}), "True");
  EXPECT_EQ(simulator_->nodes(), 1u);
  make_pod("a", {}, "Always", "app:1", "k");
  make_pod("b", {}, "Always", "app:1", "real");
  EXPECT_EQ(phase("a"), "Running");
  EXPECT_EQ(phase("b"), "Pending");
}

TEST_F(SimulatorTest, continues_after_a_restart) {
  simulate({.nodes = 1});
  make_pod("a", {{"plimsoll.io/sim-duration", "10s"}}, "Never");
  pass(5s);
  run_to_end(loop, simulator_->stop());
  simulator_ = nullptr;
  simulate({.nodes = 1});
  EXPECT_EQ(simulator_->stats().patches, 0u);
  pass(5s);
  EXPECT_EQ(phase("a"), "Succeeded");
}

// A catalog with an image that is present on every tenth node.
std::shared_ptr<const images::ImageCatalog> spread_catalog() {
  auto out = std::make_shared<images::ImageCatalog>(images::ImageCatalog::Options{
      .policy = images::ImagePolicy::any, .program = "", .version = ""});
  auto added = out->add_yaml(
      "images:\n  app:1: {layers: [{digest: base, size: 300M}], nodes: [\"sim-*0\", k]}\n", "c");
  EXPECT_TRUE(added) << added.error().message;
  return out;
}

TEST_F(SimulatorTest, puts_images_where_the_catalog_says) {
  simulate({.nodes = 12, .catalog = spread_catalog()});
  const json::value with = get(kube::resources::nodes, "sim-10");
  const json::array& images = with.at("status").at("images").as_array();
  ASSERT_EQ(images.size(), 1u);
  EXPECT_EQ(int_at(images[0], {"sizeBytes"}), 300'000'000);
  EXPECT_EQ(images[0].at("names").at(1).as_string(), "docker.io/library/app:1");
  EXPECT_EQ(find(get(kube::resources::nodes, "sim-1"), {"status", "images"}), nullptr);
  EXPECT_EQ(simulator_->stats().patches, 0u) << "it is part of the node from the start";
  make_pod("here", {}, "Always", "app:1", "sim-10");
  make_pod("there", {}, "Always", "app:1", "sim-1");
  EXPECT_EQ(phase("here"), "Running") << "nothing to pull";
  EXPECT_EQ(phase("there"), "Pending");
  pass(4s);
  EXPECT_EQ(phase("there"), "Running");
}

TEST_F(SimulatorTest, keeps_images_that_a_node_was_made_with) {
  simulate({.catalog = spread_catalog()});
  json::value node = parsed(R"({"metadata":{"name":"k","annotations":{"plimsoll.io/sim":"true"}},
    "status":{"images":[{"names":["other@sha256:00","docker.io/library/other:2"],"sizeBytes":7000000}]}})");
  ASSERT_TRUE(run(client->create(kube::resources::nodes, {"", ""}, node)));
  pass(1s);
  const json::value told = get(kube::resources::nodes, "k");
  const json::array& images = told.at("status").at("images").as_array();
  ASSERT_EQ(images.size(), 2u);
  EXPECT_EQ(int_at(images[0], {"sizeBytes"}), 300'000'000) << "from the catalog";
  EXPECT_EQ(int_at(images[1], {"sizeBytes"}), 7'000'000);
  make_pod("a", {}, "Always", "other:2", "k");
  EXPECT_EQ(phase("a"), "Running");
}

const kube::Resource kInventories{.group = "plimsoll.io",
                                  .version = "v1alpha1",
                                  .plural = "nodeimageinventories",
                                  .kind = "NodeImageInventory",
                                  .namespaced = false};

// A server with another kind that is defined later.
class SimulatedInventories : public SimulatorTest {
 protected:
  SimulatedInventories() {
    kinds_ = apiserver::CustomResources::install(loop.executor(), clock, *store, *server);
    kinds_->start();
  }

  void TearDown() override {
    SimulatorTest::TearDown();
    simulator_ = nullptr;
    run_to_end(loop, kinds_->stop());
  }

  void define() {
    const json::value definition =
        parsed(R"({"metadata":{"name":"nodeimageinventories.plimsoll.io"},
      "spec":{"group":"plimsoll.io","scope":"Cluster",
        "names":{"plural":"nodeimageinventories","kind":"NodeImageInventory"},
        "versions":[{"name":"v1alpha1","served":true,"storage":true,"schema":{"openAPIV3Schema":
          {"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})");
    ASSERT_TRUE(
        run(client->create(kube::resources::custom_resource_definitions, {"", ""}, definition)));
    settle();
  }

  plim::loop::ImageInventory inventory(std::string node) {
    const json::value object = get(kInventories, std::move(node));
    if (object.is_null()) return {};
    auto out = plim::loop::inventory_from_json(object.at("spec"));
    EXPECT_TRUE(out);
    return out.value_or(plim::loop::ImageInventory());
  }

  std::unique_ptr<apiserver::CustomResources> kinds_;
};

TEST_F(SimulatedInventories, list_images_with_their_layers) {
  define();
  images::ImageCatalog catalog(
      {.policy = images::ImagePolicy::strict, .program = "", .version = ""});
  ASSERT_TRUE(catalog.add_yaml(R"(
images:
  app:1: {layers: [{digest: base, size: 180M}, {digest: one, size: 20M}], nodes: [sim-1]}
  app:2: {layers: [{digest: base, size: 180M}, {digest: two, size: 10M}]}
)",
                               "c"));
  simulate(
      {.nodes = 2, .catalog = std::make_shared<const images::ImageCatalog>(std::move(catalog))});
  const plim::loop::ImageInventory first = inventory("sim-1");
  ASSERT_EQ(first.images.size(), 1U);
  EXPECT_EQ(first.images[0].size, 200'000'000);
  EXPECT_EQ(first.images[0].names[0], "docker.io/library/app:1");
  EXPECT_TRUE(first.images[0].names[1].starts_with("docker.io/library/app@sha256:"));
  ASSERT_EQ(first.layers.size(), 2U);
  EXPECT_EQ(first.layers[0].size, 180'000'000);
  EXPECT_EQ(first.runtime, "plimsoll://sim");
  EXPECT_EQ(first.bandwidth, 0) << "not measured yet";
  EXPECT_EQ(first.reported_at, clock.wall());
  EXPECT_TRUE(get(kInventories, "sim-2").is_null()) << "it has none";
  const json::value owners = get(kInventories, "sim-1").at("metadata").at("ownerReferences");
  EXPECT_EQ(text_at(owners.at(0), {"uid"}),
            text_at(get(kube::resources::nodes, "sim-1"), {"metadata", "uid"}));

  make_pod("a", {}, "Always", "app:2");
  EXPECT_EQ(inventory("sim-1").images.size(), 1U) << "it is on its way";
  pass(2s);
  const plim::loop::ImageInventory second = inventory("sim-1");
  ASSERT_EQ(second.images.size(), 2U);
  EXPECT_EQ(second.layers.size(), 3U) << "one is shared";
  EXPECT_EQ(second.generation, first.generation + 1);
  EXPECT_EQ(second.bandwidth, 100'000'000);
}

TEST_F(SimulatedInventories, are_refreshed_and_written_after_changes) {
  define();
  simulate({.nodes = 10, .catalog = spread_catalog()});
  EXPECT_EQ(simulator_->stats().inventories, 1U);
  const WallTime first = inventory("sim-10").reported_at;
  pass(7min);
  EXPECT_EQ(simulator_->stats().inventories, 1U);
  pass(2min);
  EXPECT_EQ(simulator_->stats().inventories, 2U) << "before schedulers ignore it as too old";
  const plim::loop::ImageInventory again = inventory("sim-10");
  EXPECT_GT(again.reported_at, first);
  EXPECT_EQ(again.generation, 1);
  EXPECT_EQ(again.images.size(), 1U);
}

TEST_F(SimulatedInventories, are_written_when_their_kind_is_defined_later) {
  simulate({.nodes = 10, .catalog = spread_catalog()});
  pass(5s);
  EXPECT_EQ(simulator_->stats().inventories, 0U);
  EXPECT_EQ(simulator_->stats().failures, 0U);
  define();
  pass(3s);
  EXPECT_EQ(inventory("sim-10").images.size(), 1U);
}

TEST_F(SimulatorTest, reports_the_simulated_usage_of_pods) {
  simulate({.nodes = 1});
  make_pod("a", {{"plimsoll.io/sim-cpu", "500m"}, {"plimsoll.io/sim-memory", "64Mi"}});
  pass(10s);
  const auto usage = simulator_->usage("sim-1");
  ASSERT_TRUE(usage);
  EXPECT_EQ(usage->nano_cores, 500'000'000u);
  ASSERT_EQ(usage->pods.size(), 1u);
  EXPECT_EQ(usage->pods[0].used.working_set_bytes, 64u << 20);
  EXPECT_EQ(usage->pods[0].containers[0].name, "c");
  EXPECT_FALSE(simulator_->usage("real"));
}

TEST_F(SimulatorTest, lets_stages_go_first) {
  auto stages = parse_stages(R"(
stages:
- name: stuck
  kind: Pod
  selector:
    matchLabels: {stage: stuck}
    matchFields:
    - {key: .status.phase, operator: In, values: [Pending]}
    - {key: .metadata.deletionTimestamp, operator: DoesNotExist}
  delay: 3s
  next:
    status: {phase: Failed, reason: Stuck, message: "${name} on ${node} at ${podIP}"}
    event: {type: Warning, reason: Stuck, message: "${name}"}
- name: sweep
  kind: Pod
  selector: {matchFields: [{key: .status.reason, operator: In, values: [Stuck]}]}
  delay: 2s
  next: {delete: true}
)",
                             "s");
  ASSERT_TRUE(stages) << stages.error().message;
  simulate({.nodes = 1, .stages = *stages});
  json::value made = apiserver::testing::simple_pod("a");
  make_object(made, {"metadata", "labels"})["stage"] = "stuck";
  make_object(made, {"spec"})["nodeName"] = "sim-1";
  ASSERT_TRUE(run(client->create(kube::resources::pods, {"default", ""}, made)));
  make_pod("b");
  EXPECT_EQ(phase("b"), "Running") << "no stage matches it";
  EXPECT_EQ(phase("a"), "Pending");
  pass(3s);
  EXPECT_EQ(phase("a"), "Failed");
  EXPECT_EQ(text_at(pod("a"), {"status", "message"}), "a on sim-1 at 10.128.0.2");
  pass(2100ms);
  EXPECT_TRUE(pod("a").is_null());
  EXPECT_EQ(phase("b"), "Running");
}

TEST(Stages, say_where_a_mistake_is) {
  auto message = [](std::string_view text) { return parse_stages(text, "s.yaml").error().message; };
  EXPECT_NE(message("stages: [{kind: Job, next: {}}]").find("expected Pod or Node"),
            std::string::npos);
  EXPECT_NE(message("stages: [{kind: Pod}]").find("needs the field next"), std::string::npos);
  EXPECT_NE(message("stages: [{kind: Pod, delay: soon, next: {}}]").find("a duration"),
            std::string::npos);
  EXPECT_NE(message("stages: [{kind: Pod, nxt: {}}]").find("unknown field \"nxt\""),
            std::string::npos);
  EXPECT_NE(message("stages: [{kind: Pod, next: {}, selector: {matchFields: [{key: x}]}}]")
                .find("is not a path"),
            std::string::npos);
  EXPECT_TRUE(parse_stages("", "s.yaml")->empty());
}

TEST(Stages, are_drawn_by_weight) {
  auto stages = *parse_stages(
      "stages: [{name: a, kind: Pod, weight: 1, next: {}}, {name: b, kind: Pod, weight: 3, next: "
      "{}}]",
      "s");
  SeededRandom random(7);
  int b = 0;
  for (int i = 0; i < 1000; ++i)
    b += choose_stage(stages, "Pod", json::object(), random)->name == "b";
  EXPECT_NEAR(b, 750, 60);
  EXPECT_EQ(choose_stage(stages, "Node", json::object(), random), nullptr);
}

TEST(Stages, find_fields_with_dots_in_their_names) {
  auto stages = *parse_stages(R"(
stages: [{kind: Node, next: {}, selector: {matchFields: [{key: '.metadata.annotations["a.b/c"]', operator: In, values: [1]}]}}]
)",
                              "s");
  SeededRandom random(7);
  EXPECT_TRUE(choose_stage(stages, "Node", parsed(R"({"metadata":{"annotations":{"a.b/c":"1"}}})"),
                           random));
  EXPECT_FALSE(choose_stage(stages, "Node", parsed(R"({"metadata":{}})"), random));
}

}  // namespace
}  // namespace plim::local::sim
