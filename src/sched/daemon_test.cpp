// What the daemon watches besides pods and nodes, with an API server in memory.
#include "sched/daemon.hpp"

#include <map>
#include <stdexcept>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/loop.hpp"
#include "base/rfc3339.hpp"
#include "base/yaml.hpp"
#include "kube/paths.hpp"
#include "local/apiserver/api/api_server.hpp"
#include "local/apiserver/crd/custom_resources.hpp"
#include "local/store/store.hpp"
#include "loop/image_annotation.hpp"
#include "placement/testing/objects.hpp"

namespace plim::sched {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr std::string_view kOnlyLocality = R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {score: {disabled: [{name: '*'}], enabled: [{name: ImageLocality}]}}
)";
constexpr std::string_view kDefinition = R"(
metadata: {name: nodeimageinventories.plimsoll.io}
spec:
  group: plimsoll.io
  scope: Cluster
  names: {plural: nodeimageinventories, kind: NodeImageInventory}
  versions:
  - name: v1alpha1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}
)";

const kube::Resource kInventory{.group = "plimsoll.io",
                                .version = "v1alpha1",
                                .plural = "nodeimageinventories",
                                .kind = "NodeImageInventory",
                                .namespaced = false};
const kube::Resource kClaim{.group = "",
                            .version = "v1",
                            .plural = "persistentvolumeclaims",
                            .kind = "PersistentVolumeClaim"};
const kube::Resource kVolume{.group = "",
                             .version = "v1",
                             .plural = "persistentvolumes",
                             .kind = "PersistentVolume",
                             .namespaced = false};

class SchedDaemonTest : public ::testing::Test {
 protected:
  SchedDaemonTest() {
    local::store::StoreOptions options;
    options.durability = Durability::none;
    store_ = std::move(*local::store::Store::open(loop_.executor(), clock_, options));
    server_ = std::move(*local::apiserver::ApiServer::create(loop_.executor(), clock_, *store_));
    EXPECT_TRUE(run_to_end(loop_, server_->start()));
    resources_ =
        local::apiserver::CustomResources::install(loop_.executor(), clock_, *store_, *server_);
    resources_->start();
    client_ = server_->client({.name = "admin", .groups = {"system:masters"}});
    for (const char* name : {"a", "b"}) {
      create(kube::resources::nodes, "",
             fmt::format("{{metadata: {{name: {0}, labels: {{zone: {0}}}}}, status: {{allocatable: "
                         "{{cpu: '4', memory: 8Gi, pods: '110'}}}}}}",
                         name));
      merge(kube::resources::nodes, "", name, "{spec: {taints: null}}");  // of new nodes
    }
    auto config = read_configuration(kOnlyLocality, "test");
    EXPECT_TRUE(config);
    config_ = std::make_shared<const Configuration>(std::move(config->config));
    start_daemon();
  }

  void TearDown() override {
    stop_daemon();
    run_to_end(loop_, resources_->stop());
    resources_.reset();
    run_to_end(loop_, server_->stop());
    client_.reset();
  }

  static json::value object(std::string_view yaml) {
    auto out = parse_yaml(yaml);
    PLIM_ASSERT(out);
    return std::move(*out);
  }

  void create(const kube::Resource& resource, std::string ns, std::string_view yaml) {
    auto made = run_to_end(loop_, client_->create(resource, {std::move(ns), ""}, object(yaml)));
    ASSERT_TRUE(made) << made.error().message;
  }

  void merge(const kube::Resource& resource, std::string ns, std::string name,
             std::string_view yaml) {
    auto made = run_to_end(loop_, client_->patch(resource, {std::move(ns), std::move(name)},
                                                 kube::PatchType::merge, object(yaml)));
    ASSERT_TRUE(made) << made.error().message;
  }

  void remove(const kube::Resource& resource, std::string ns, std::string name) {
    kube::DeleteOptions at_once;
    at_once.grace_seconds = 0;  // no kubelet ends pods here
    ASSERT_TRUE(
        run_to_end(loop_, client_->remove(resource, {std::move(ns), std::move(name)}, at_once)));
  }

  template <class Condition>
  void until(Condition condition) {
    auto wait = [](Condition& is_met) -> Task<void> {
      for (int turns = 0; !is_met(); ++turns) {
        if (turns == 3'000) throw std::runtime_error("it did not come about");
        co_await yield_to_loop();
      }
    };
    run_to_end(loop_, wait(condition));
  }

  Decision decide(const PodPointer& pod) {
    DecideOptions options;
    options.rows = DecideOptions::kAllRows;
    options.now = clock_.wall();
    return daemon_->engine().decide(*pod, config_->profiles[0].profile, options);
  }

  // The scores for busybox, by node.
  std::map<std::string, std::int64_t> scores() {
    const auto pod = placement::testing::pod_of(
        "{metadata: {name: p}, spec: {containers: [{name: c, image: busybox}]}}");
    std::map<std::string, std::int64_t> out;
    for (const ScoredNode& row : decide(pod).rows) out[row.node] = row.total;
    return out;
  }

  json::object inventory(std::string_view image, WallTime reported) {
    loop::ImageInventory out;
    out.reported_at = reported;
    out.images = {{.id = "sha256:1",
                   .size = 771000,
                   .names = {fmt::format("docker.io/library/{}:latest", image)}}};
    return loop::inventory_to_json(out);
  }

  std::string holding(std::string_view node, std::string_view image, WallTime reported) {
    return to_json(
        json::object{{"metadata", {{"name", node}}}, {"spec", inventory(image, reported)}});
  }

  std::string node_of_pod(std::string name) {
    auto pod = run_to_end(loop_, client_->get(kube::resources::pods, {"default", std::move(name)}));
    return pod ? std::string(kube::text_at(*pod, "Pod.spec.nodeName")) : "";
  }

  // The node to which it is bound in the end, however long its back-off is.
  std::string bound_to(const std::string& name) {
    for (int turns = 0; turns < 200 && node_of_pod(name).empty(); ++turns) {
      clock_.advance_to_next();
      loop_.run_ready();
    }
    return node_of_pod(name);
  }

  void start_daemon() {
    daemon_ =
        std::make_unique<Daemon>(loop_.executor(), DaemonOptions{.config = config_, .host = "here"},
                                 client_, client_, registry_, clock_, random_);
    daemon_->start();
    daemon_->lead();
    until([&] { return daemon_->synced(); });
  }

  void stop_daemon() {
    run_to_end(loop_, daemon_->stop());
    daemon_.reset();
  }

  // Creates a pod that the daemon cannot place, and binds it as another process would: without an
  // event.
  void bind_quietly(const std::string& name, std::string_view metadata = "",
                    std::string_view scheduler = "default-scheduler") {
    create(
        kube::resources::pods, "default",
        fmt::format("{{metadata: {{name: {}{}}}, spec: {{schedulerName: {}, nodeSelector: {{zone: "
                    "nowhere}}, containers: [{{name: c, image: busybox}}]}}}}",
                    name, metadata, scheduler));
    auto made = run_to_end(
        loop_, client_->create(kube::resources::pods, {"default", name, "binding"},
                               object(fmt::format("{{metadata: {{name: {}}}, target: {{kind: Node, "
                                                  "name: a}}}}",
                                                  name))));
    ASSERT_TRUE(made) << made.error().message;
  }

  // "pod: note" of the Scheduled events.
  std::vector<std::string> scheduled_events() {
    auto list = run_to_end(loop_, client_->list(kube::resources::events, {.ns = "default"}));
    std::vector<std::string> out;
    if (!list) return out;
    for (const json::value& one : find(*list, {"items"})->get_array())
      if (kube::text_at(one, "CoreEvent.reason") == "Scheduled")
        out.emplace_back(fmt::format("{}: {}", kube::text_at(one, "CoreEvent.involvedObject.name"),
                                     kube::text_at(one, "CoreEvent.message")));
    return out;
  }

  Loop loop_;
  FakeClock clock_;
  SeededRandom random_{7};
  metrics::Registry registry_;
  std::unique_ptr<local::store::Store> store_;
  std::unique_ptr<local::apiserver::ApiServer> server_;
  std::unique_ptr<local::apiserver::CustomResources> resources_;
  std::shared_ptr<kube::Client> client_;
  std::shared_ptr<const Configuration> config_;
  std::unique_ptr<Daemon> daemon_;
};

TEST_F(SchedDaemonTest, watches_inventories_when_their_kind_appears) {
  EXPECT_THAT(scores(), UnorderedElementsAre(Pair("a", 0), Pair("b", 0)));
  // No node has the image that this pod requires, so it waits.
  create(kube::resources::pods, "default",
         "{metadata: {name: waits, annotations: {plimsoll.io/require-images: 'true'}}, spec: "
         "{containers: [{name: c, image: busybox}]}}");
  until([&] { return daemon_->engine().pod_count() == 0 && clock_.sleepers() > 0; });
  EXPECT_EQ(node_of_pod("waits"), "");

  create(kube::resources::custom_resource_definitions, "", kDefinition);
  loop_.run_ready();  // serves the new kind
  create(kInventory, "", holding("b", "busybox", clock_.wall()));
  EXPECT_THAT(scores(), UnorderedElementsAre(Pair("a", 0), Pair("b", 0)));  // not discovered yet
  clock_.advance(30s);
  until([&] { return scores()["b"] == 100; });
  EXPECT_EQ(scores()["a"], 0);
  EXPECT_EQ(bound_to("waits"), "b");

  // Changed, added, removed.
  remove(kube::resources::pods, "default", "waits");
  merge(kInventory, "", "b", holding("b", "other", clock_.wall()));
  create(kInventory, "", holding("a", "busybox", clock_.wall()));
  until([&] { return scores() == std::map<std::string, std::int64_t>{{"a", 100}, {"b", 0}}; });
  remove(kInventory, "", "a");
  until([&] { return scores()["a"] == 0; });

  // An inventory that is too old or invalid counts as none.
  create(kInventory, "", holding("a", "busybox", clock_.wall() - 601s));
  merge(kInventory, "", "b", holding("b", "busybox", clock_.wall()));
  until([&] { return scores()["b"] == 100; });
  EXPECT_EQ(scores()["a"], 0);
  EXPECT_THAT(registry_.expose(),
              HasSubstr("\nplimsoll_scheduler_inventory_age_seconds{node=\"a\"} 601\n"));
  merge(kInventory, "", "a", holding("a", "busybox", clock_.wall()));
  until([&] { return scores()["a"] == 100; });
  clock_.advance(601s);
  EXPECT_THAT(scores(), UnorderedElementsAre(Pair("a", 0), Pair("b", 0)));
  merge(kInventory, "", "b", holding("b", "busybox", clock_.wall()));
  until([&] { return scores()["b"] == 100; });
  merge(kInventory, "", "b", "{spec: {images: [{size: -1}]}}");
  until([&] { return scores()["b"] == 0; });
}

TEST_F(SchedDaemonTest, writes_the_events_that_a_killed_scheduler_left_out) {
  stop_daemon();
  bind_quietly("old");
  clock_.advance(61s);
  bind_quietly("young");
  bind_quietly("mirror", ", annotations: {kubernetes.io/config.mirror: x}");
  bind_quietly("foreign", "", "another-scheduler");
  start_daemon();
  create(kube::resources::pods, "default",
         "{metadata: {name: own}, spec: {containers: [{name: c, image: busybox}]}}");
  for (int turns = 0; turns < 100 && scheduled_events().size() < 2; ++turns) loop_.run_ready();
  bind_quietly("late");  // the API server still handles a binding of the process that is gone
  for (int i = 0; i < 40; ++i) {
    clock_.advance(1s);
    loop_.run_ready();
  }
  EXPECT_THAT(
      scheduled_events(),
      UnorderedElementsAre("young: Successfully assigned default/young to a",
                           "own: Successfully assigned default/own to " + node_of_pod("own"),
                           "late: Successfully assigned default/late to a"));
}

TEST_F(SchedDaemonTest, leaves_events_alone_that_exist_under_any_name) {
  stop_daemon();
  bind_quietly("p");
  auto pod = run_to_end(loop_, client_->get(kube::resources::pods, {"default", "p"}));
  ASSERT_TRUE(pod);
  create(kube::resources::events, "default",
         fmt::format("{{metadata: {{name: p.17}}, reason: Scheduled, message: by stock, "
                     "involvedObject: {{kind: Pod, namespace: default, name: p, uid: {}}}}}",
                     kube::text_at(*pod, "Pod.metadata.uid")));
  start_daemon();
  for (int i = 0; i < 40; ++i) {
    clock_.advance(1s);
    loop_.run_ready();
  }
  EXPECT_THAT(scheduled_events(), UnorderedElementsAre("p: by stock"));
}

TEST_F(SchedDaemonTest, reads_the_annotation_of_nodes) {
  loop::ImageInventory told;
  told.images = {{.id = "sha256:1", .size = 5, .names = {"docker.io/library/busybox:latest"}}};
  create(kube::resources::pods, "default",
         "{metadata: {name: waits, annotations: {plimsoll.io/require-images: 'true'}}, spec: "
         "{containers: [{name: c, image: busybox}]}}");
  until([&] { return clock_.sleepers() > 0; });
  merge(kube::resources::nodes, "", "a",
        fmt::format("{{metadata: {{annotations: {{plimsoll.io/images: '{}', plimsoll.io/images-at: "
                    "'{}'}}}}}}",
                    loop::annotate_images(told), format_rfc3339(clock_.wall())));
  EXPECT_EQ(bound_to("waits"), "a");
}

TEST_F(SchedDaemonTest, clears_a_nomination_for_a_node_that_is_gone) {
  for (const char* name : {"a", "b"}) remove(kube::resources::nodes, "", name);
  until([&] { return daemon_->engine().node_count() == 0; });
  daemon_->stop_leading();
  create(kube::resources::pods, "default",
         "{metadata: {name: p}, spec: {containers: [{name: c, image: x}]}}");
  auto promised = run_to_end(
      loop_,
      client_->patch(kube::resources::pods, {.ns = "default", .name = "p", .subresource = "status"},
                     kube::PatchType::merge, object("{status: {nominatedNodeName: a}}")));
  ASSERT_TRUE(promised);
  const auto nominated = [&] {
    auto pod = run_to_end(loop_, client_->get(kube::resources::pods, {"default", "p"}));
    return std::string(kube::text_at(*pod, "Pod.status.nominatedNodeName"));
  };
  ASSERT_EQ(nominated(), "a");
  daemon_->lead();
  for (int turns = 0; turns < 200 && !nominated().empty(); ++turns) loop_.run_ready();
  EXPECT_EQ(nominated(), "");
}

Task<void> keep_answer(CacheComparer* comparer, std::optional<Result<CacheDifference>>* out) {
  auto found = co_await comparer->compare();
  out->emplace(std::move(found));
}

TEST_F(SchedDaemonTest, the_cache_is_compared_with_what_the_server_lists) {
  create(kube::resources::pods, "default",
         "{metadata: {name: there}, spec: {nodeName: a, containers: [{name: c, image: x}]}}");
  SchedulerState state({.config = config_}, {}, {}, {.on_change = [] {}}, clock_);
  auto known = [&](std::string_view name) {
    auto node = std::make_shared<const kube::Node>(placement::testing::plain_node(name));
    state.node_changed(nullptr, node);
  };
  known("a");
  known("gone");
  CacheComparer comparer(client_, state, clock_);
  TaskGroup tasks(loop_.executor());
  std::optional<Result<CacheDifference>> found;
  tasks.spawn("compare", keep_answer(&comparer, &found));
  for (int turns = 0; turns < 50; ++turns) loop_.run_ready();
  EXPECT_FALSE(found) << "it waits for the watches before it believes a difference";
  known("b");  // … of which one was only late
  for (int turns = 0; turns < 200 && !found; ++turns) {
    clock_.advance_to_next();
    loop_.run_ready();
  }
  run_to_end(loop_, tasks.stop());
  ASSERT_TRUE(found && *found);
  const CacheDifference& differs = **found;
  EXPECT_THAT(differs.missed_nodes, ::testing::ElementsAre());
  EXPECT_THAT(differs.redundant_nodes, ::testing::ElementsAre("gone"));
  EXPECT_EQ(differs.missed_pods.size(), 1U);
  EXPECT_THAT(differs.redundant_pods, ::testing::ElementsAre());
}

TEST_F(SchedDaemonTest, watches_a_kind_when_a_plugin_needs_it) {
  create(kClaim, "default",
         "{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], storageClassName: slow, "
         "resources: {requests: {storage: 1Gi}}}}");
  const auto made = [](std::string_view plugins) {
    auto read =
        read_configuration(fmt::format("apiVersion: kubescheduler.config.k8s.io/v1\nkind: "
                                       "KubeSchedulerConfiguration\nprofiles: [{{plugins: {}}}]",
                                       plugins),
                           "test");
    PLIM_ASSERT(read);
    return std::make_shared<const Configuration>(std::move(read->config));
  };
  const auto few = made(
      "{multiPoint: {disabled: [{name: '*'}], enabled: [{name: PrioritySort}, {name: "
      "NodeResourcesFit}, {name: DefaultBinder}]}}");
  const auto all = made("{}");
  EXPECT_EQ(needs_of(*few), placement::Needs{});
  EXPECT_EQ(needs_of(*all), (placement::Needs{.namespaces = true,
                                              .owners = true,
                                              .storage = true,
                                              .binding = true,
                                              .limits = true,
                                              .budgets = true}));

  metrics::Registry registry;
  Daemon bare(loop_.executor(), DaemonOptions{.config = few, .host = "here"}, client_, client_,
              registry, clock_, random_);
  bare.start();
  until([&] { return bare.synced(); });
  const auto pod = placement::testing::pod_of(
      "{metadata: {name: p}, spec: {containers: [{name: c, image: x}], volumes: [{name: v, "
      "persistentVolumeClaim: {claimName: data}}]}}");
  const auto message = [&] {
    return bare.engine().decide(*pod, all->profiles[0].profile, DecideOptions()).message;
  };
  EXPECT_THAT(message(), HasSubstr("not found"));
  EXPECT_TRUE(bare.engine().cluster().namespaces().all().empty());
  bare.set_config(all, std::make_shared<const ExtenderList>());
  EXPECT_FALSE(bare.synced());
  until([&] { return bare.synced(); });
  EXPECT_THAT(message(), HasSubstr("pod has unbound immediate PersistentVolumeClaims"));
  EXPECT_FALSE(bare.engine().cluster().namespaces().all().empty());
  run_to_end(loop_, bare.stop());
}

TEST_F(SchedDaemonTest, watches_claims_volumes_and_classes) {
  const auto pod = placement::testing::pod_of(
      "{metadata: {name: p}, spec: {containers: [{name: c, image: x}], volumes: [{name: v, "
      "persistentVolumeClaim: {claimName: data}}]}}");
  const auto says = [&](std::string_view part) {
    until([&] { return decide(pod).message.find(part) != std::string::npos; });
  };
  EXPECT_THAT(decide(pod).message, HasSubstr("persistentvolumeclaim \"data\" not found"));
  create(kClaim, "default",
         "{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], storageClassName: slow, "
         "resources: {requests: {storage: 1Gi}}}}");
  says("pod has unbound immediate PersistentVolumeClaims");
  create(kVolume, "",
         "{metadata: {name: pv}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], "
         "storageClassName: slow, hostPath: {path: /x}, nodeAffinity: {required: "
         "{nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [b]}]}]}}}}");
  merge(kClaim, "default", "data",
        "{metadata: {annotations: {pv.kubernetes.io/bind-completed: 'yes'}}, spec: {volumeName: "
        "pv}}");
  until([&] { return decide(pod).node == "b"; });
  EXPECT_EQ(decide(pod).outcome, Decision::Outcome::single_feasible);
  merge(kVolume, "", "pv", "{metadata: {labels: {topology.kubernetes.io/zone: elsewhere}}}");
  merge(kube::resources::nodes, "", "b", "{metadata: {labels: {topology.kubernetes.io/zone: z}}}");
  says("node(s) had no available volume zone");
  remove(kClaim, "default", "data");
  says("persistentvolumeclaim \"data\" not found");
}

}  // namespace
}  // namespace plim::sched
