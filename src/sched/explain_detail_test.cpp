// Why not that node: plugin, reason and the numbers compared.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "placement/testing/objects.hpp"
#include "sched/explain.hpp"
#include "sched/explain_table.hpp"

namespace plim::sched {
namespace {

using placement::testing::node_of;
using placement::testing::plain_node;
using placement::testing::pod_of;

class WhyNot : public ::testing::Test {
 protected:
  WhyNot() {
    engine_.set_node(plain_node("good", "{zone: a, disk: ssd, cores: '8'}"));
    engine_.set_node(plain_node("bad", "{zone: b, disk: hdd, cores: '4'}"));
    engine_.set_namespace("default", {});
  }

  void run_on(std::string_view node, std::string_view yaml) { engine_.set_pod(pod_of(yaml), node); }

  std::string why_not_bad(std::string_view spec, std::string_view labels = "{app: web}") {
    const auto pod = pod_of(
        fmt::format("{{metadata: {{name: p, labels: {}}}, spec: {{containers: [{{name: c, image: "
                    "x}}], {}}}}}",
                    labels, spec));
    return explain_why_not(explain_to_json(explain(engine_, *pod, placement::default_profile(),
                                                   clock_, {.samples = 100})),
                           "bad");
  }

  Engine engine_;
  FakeClock clock_;
};

TEST_F(WhyNot, node_selector_and_required_affinity) {
  EXPECT_EQ(why_not_bad("nodeSelector: {disk: ssd, zone: b}"),
            "bad was rejected by NodeAffinity: node(s) didn't match Pod's node affinity/selector "
            "[disk is hdd, must be ssd]\n");
  const auto required = [&](std::string_view terms) {
    return why_not_bad(
        fmt::format("affinity: {{nodeAffinity: "
                    "{{requiredDuringSchedulingIgnoredDuringExecution: "
                    "{{nodeSelectorTerms: [{}]}}}}}}",
                    terms));
  };
  EXPECT_EQ(required("{matchExpressions: [{key: cores, operator: Gt, values: ['4']}, {key: zone, "
                     "operator: Exists}]}, {matchExpressions: [{key: zone, operator: In, values: "
                     "[c, a]}, {key: gpu, operator: Exists}]}"),
            "bad was rejected by NodeAffinity: node(s) didn't match Pod's node affinity/selector "
            "[cores is 4, must be more than 4, or zone is b, must be one of a, c and gpu is not "
            "set, must be set]\n");
  EXPECT_EQ(required("{matchFields: [{key: metadata.name, operator: In, values: [good]}]}"),
            "bad was rejected by NodeAffinity: node(s) didn't satisfy plugin(s) [NodeAffinity] "
            "[metadata.name must be good]\n");
}

TEST_F(WhyNot, ports) {
  run_on("bad",
         "{metadata: {name: web-1}, spec: {containers: [{name: c, ports: [{containerPort: "
         "80, hostPort: 8080, protocol: TCP}]}]}}");
  const auto pod = pod_of(
      "{metadata: {name: p}, spec: {containers: [{name: c, ports: [{containerPort: 1, hostPort: "
      "8080, protocol: TCP}, {containerPort: 2, hostPort: 9090, protocol: UDP}]}]}}");
  EXPECT_EQ(
      explain_why_not(
          explain_to_json(explain(engine_, *pod, placement::default_profile(), clock_, {})), "bad"),
      "bad was rejected by NodePorts: node(s) didn't have free ports for the requested pod "
      "ports [8080/TCP: taken by default/web-1]\n");
}

TEST_F(WhyNot, spread_skew) {
  for (int i = 0; i < 3; ++i)
    run_on("bad", fmt::format("{{metadata: {{name: w{}, labels: {{app: web}}}}, spec: "
                              "{{containers: [{{name: c}}]}}}}",
                              i));
  run_on("good", "{metadata: {name: w, labels: {app: web}}, spec: {containers: [{name: c}]}}");
  EXPECT_EQ(why_not_bad("topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, "
                        "whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: "
                        "web}}}]"),
            "bad was rejected by PodTopologySpread: node(s) didn't match pod topology spread "
            "constraints [zone=b: 3 pods and this one, fewest 1: skew 3, at most 1]\n");
  engine_.set_node(plain_node("bad", "{disk: hdd}"));
  EXPECT_EQ(why_not_bad("topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, "
                        "whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: "
                        "web}}}]"),
            "bad was rejected by PodTopologySpread: node(s) didn't match pod topology spread "
            "constraints (missing required label) [zone is not set]\n");
}

TEST_F(WhyNot, affinity_and_anti_affinity_to_pods) {
  run_on("good", "{metadata: {name: db, labels: {app: db}}, spec: {containers: [{name: c}]}}");
  const auto term = [](std::string_view kind, std::string_view app) {
    return fmt::format(
        "affinity: {{{}: {{requiredDuringSchedulingIgnoredDuringExecution: "
        "[{{topologyKey: zone, labelSelector: {{matchLabels: {{app: {}}}}}}}]}}}}",
        kind, app);
  };
  EXPECT_EQ(why_not_bad(term("podAffinity", "db")),
            "bad was rejected by InterPodAffinity: node(s) didn't match pod affinity rules "
            "[app=db: 0 pods in zone=b, must be near one]\n");
  for (int i = 0; i < 2; ++i)
    run_on("bad", fmt::format("{{metadata: {{name: c{}, labels: {{app: cache}}}}, spec: "
                              "{{containers: [{{name: c}}]}}}}",
                              i));
  EXPECT_EQ(why_not_bad(term("podAntiAffinity", "cache")),
            "bad was rejected by InterPodAffinity: node(s) didn't match pod anti-affinity rules "
            "[app=cache: 2 pods in zone=b, must be apart from all]\n");
  run_on("bad",
         fmt::format("{{metadata: {{name: lone, labels: {{app: lone}}}}, spec: {{containers: "
                     "[{{name: c}}], {}}}}}",
                     term("podAntiAffinity", "web")));
  EXPECT_EQ(why_not_bad("restartPolicy: Always"),
            "bad was rejected by InterPodAffinity: node(s) didn't satisfy existing pods "
            "anti-affinity rules [1 pods in zone=b keep away from app=web]\n");
}

TEST_F(WhyNot, volumes) {
  engine_.volumes().set_claim({.ns = "default", .name = "data", .volume = "pv", .bound = true});
  engine_.volumes().set_volume({.name = "pv",
                                .labels = {},
                                .node_affinity = *parse_json(
                                    R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone",
                                    "operator":"In","values":["a"]}]}]})")});
  const std::string claim = "volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]";
  EXPECT_EQ(why_not_bad(claim),
            "bad was rejected by VolumeBinding: node(s) didn't match PersistentVolume's node "
            "affinity [volume pv: zone is b, must be a]\n");
  engine_.volumes().set_volume(
      {.name = "pv",
       .labels = placement::testing::labels_of("{topology.kubernetes.io/zone: a}"),
       .node_affinity = {}});
  engine_.set_node(plain_node("bad", "{topology.kubernetes.io/zone: b}"));
  EXPECT_EQ(why_not_bad(claim),
            "bad was rejected by VolumeZone: node(s) had no available volume zone [volume pv: "
            "topology.kubernetes.io/zone is b, must be a]\n");
  engine_.volumes().set_claim(
      {.ns = "default", .name = "one", .volume = "pv2", .bound = true, .once_pod = true});
  engine_.volumes().set_volume({.name = "pv2", .labels = {}, .node_affinity = {}});
  run_on("good",
         "{metadata: {name: user}, spec: {containers: [{name: c}], volumes: [{name: v, "
         "persistentVolumeClaim: {claimName: one}}]}}");
  EXPECT_EQ(why_not_bad("volumes: [{name: v, persistentVolumeClaim: {claimName: one}}]"),
            "bad was rejected by VolumeRestrictions: node(s) unavailable due to "
            "PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod "
            "[claim one: 1 pods use it, 1 may]\n");
}

TEST_F(WhyNot, bound_pods_are_named_where_they_decide_about_images) {
  loop::ImageInventory told;
  told.reported_at = clock_.wall() - std::chrono::seconds(12);
  engine_.set_inventory("good", told);
  engine_.set_inventory("bad", told);
  run_on("good", "{metadata: {name: first}, spec: {containers: [{name: c, image: 'x:1'}]}}");
  Profile profile = placement::default_profile();
  profile.score = {{PluginId::ImageLocality, 1}};
  profile.locality.mode = LocalityMode::Bytes;
  const auto pod = pod_of("{metadata: {name: p}, spec: {containers: [{name: c, image: 'x:1'}]}}");
  EXPECT_EQ(explain(engine_, *pod, profile, clock_, {}).details,
            (std::vector<std::string>{"docker.io/library/x:1 present, by pods bound to the node",
                                      "missing an image of unknown size, by CRD 12s ago"}));
  // One image is reported, the other is not yet.
  told.images = {{.id = "sha256:2", .size = 771000, .names = {"docker.io/library/y:1"}}};
  engine_.set_inventory("good", told);
  const auto both = pod_of(
      "{metadata: {name: p}, spec: {containers: [{name: c, image: 'x:1'}, {name: d, image: "
      "'y:1'}]}}");
  EXPECT_EQ(explain(engine_, *both, profile, clock_, {}).details[0],
            "docker.io/library/x:1, docker.io/library/y:1 771 kB present, by CRD 12s ago, 1 of the "
            "images by pods bound to the node");
}

TEST_F(WhyNot, images_are_told_with_their_source_and_its_age) {
  loop::ImageInventory told;
  told.reported_at = clock_.wall() - std::chrono::seconds(12);
  told.images = {{.id = "sha256:1", .size = 771000, .names = {"docker.io/library/x:latest"}}};
  engine_.set_inventory("good", told, InventorySource::Etcd);
  told.images.clear();
  told.reported_at = clock_.wall() - std::chrono::minutes(14);
  engine_.set_inventory("bad", told);
  engine_.set_node(plain_node("new"));
  Profile profile = placement::default_profile();
  profile.score = {{PluginId::ImageLocality, 1}};
  profile.locality.mode = LocalityMode::Bytes;
  const auto pod = pod_of("{metadata: {name: p}, spec: {containers: [{name: c, image: x}]}}");
  const ExplainRecord record = explain(engine_, *pod, profile, clock_, {});
  EXPECT_EQ(record.details,
            (std::vector<std::string>{"docker.io/library/x:latest 771 kB present, will re-check "
                                      "registry, by Etcd 12s ago",
                                      "missing 771 kB, by its status: CRD is 14m old",
                                      "missing 771 kB, by its status"}));
}

TEST_F(WhyNot, an_image_that_is_always_pulled_counts_and_will_be_checked_again) {
  loop::ImageInventory told;
  told.reported_at = clock_.wall();
  told.images = {
      {.id = "sha256:1",
       .size = 771000,
       .names = {"docker.io/library/x:1", "docker.io/library/x@sha256:" + std::string(64, 'a')}},
      {.id = "sha256:2", .size = 20'000'000, .names = {"docker.io/library/y:2"}}};
  engine_.set_inventory("good", told);
  Profile profile = placement::default_profile();
  profile.score = {{PluginId::ImageLocality, 1}};
  profile.locality.mode = LocalityMode::Bytes;
  const auto told_of = [&](std::string_view containers) {
    const auto pod =
        pod_of(fmt::format("{{metadata: {{name: p}}, spec: {{containers: [{}]}}}}", containers));
    const ExplainRecord record = explain(engine_, *pod, profile, clock_, {});
    EXPECT_EQ(record.decision.node, "good");
    EXPECT_EQ(placement::testing::raw_score(record.decision, "good", PluginId::ImageLocality), 100);
    return record.details.at(0);
  };
  const std::string x = "{name: c, image: 'x:1', imagePullPolicy: ";
  EXPECT_EQ(told_of(x + "Always}"),
            "docker.io/library/x:1 771 kB present, will re-check registry, by CRD 0s ago");
  EXPECT_EQ(told_of(x + "IfNotPresent}"), "docker.io/library/x:1 771 kB present, by CRD 0s ago");
  EXPECT_EQ(told_of("{name: c, image: 'x:1'}"), told_of(x + "IfNotPresent}"));
  EXPECT_EQ(told_of(x + "Never}, {name: d, image: 'y:2', imagePullPolicy: Always}"),
            "docker.io/library/x:1 771 kB, docker.io/library/y:2 20 MB present, will re-check "
            "registry for docker.io/library/y:2, by CRD 0s ago");
  EXPECT_EQ(
      told_of("{name: c, image: 'x:1'}, {name: d, image: 'No Such'}"),
      "docker.io/library/x:1 771 kB present, by CRD 0s ago; not counted: \"No Such\" is not a "
      "valid image name");
  // A digest says what it means.
  EXPECT_EQ(told_of(fmt::format("{{name: c, image: 'x@sha256:{}', imagePullPolicy: Always}}",
                                std::string(64, 'a'))),
            fmt::format("docker.io/library/x@sha256:{} 771 kB present, by CRD 0s ago",
                        std::string(64, 'a')));
}

TEST_F(WhyNot, an_invalid_image_name_is_not_present) {
  Profile profile = placement::default_profile();
  profile.score = {{PluginId::ImageLocality, 1}};
  profile.locality.mode = LocalityMode::Bytes;
  const auto pod = pod_of("{metadata: {name: p}, spec: {containers: [{name: c, image: 'UP/x'}]}}");
  for (const std::string& detail : explain(engine_, *pod, profile, clock_, {}).details)
    EXPECT_EQ(detail, "not counted: \"UP/x\" is not a valid image name");
}

}  // namespace
}  // namespace plim::sched
