#include "local/cluster/kind_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plim::local::cluster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kDocument = R"(kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
nodes:
  - role: control-plane
    kubeadmConfigPatches:
      - |
        kind: ClusterConfiguration
        scheduler:
          extraArgs:
            config: /etc/kubernetes/scheduler-config.conf
            v: '15'
          extraVolumes:
            - name: configuration
              hostPath: /etc/kubernetes/scheduler-config.conf
              mountPath: /etc/kubernetes/scheduler-config.conf
              readOnly: true
              pathType: File
    extraMounts:
      - hostPath: ./scheduler-config.conf
        containerPath: /etc/kubernetes/scheduler-config.conf
        readOnly: true
  - role: worker
  - role: worker
  - role: worker
)";

std::string head(std::string_view rest) {
  return "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\n" + std::string(rest);
}

std::string mistake(std::string_view text) {
  auto read = read_kind_config(text, "c.yaml");
  return read ? "no mistake" : read.error().message;
}

KindConfig good(std::string_view text) {
  auto read = read_kind_config(text, "c.yaml");
  EXPECT_TRUE(read) << read.error().message;
  return read ? std::move(*read) : KindConfig();
}

TEST(KindConfig, reads_the_file_of_the_demo) {
  const KindConfig config = good(kDocument);
  EXPECT_THAT(config.warnings, IsEmpty());
  EXPECT_EQ(config.scheduler.config, "/etc/kubernetes/scheduler-config.conf");
  EXPECT_EQ(config.scheduler.config_file, "./scheduler-config.conf");
  EXPECT_EQ(config.scheduler.config_at, (TextPosition{10, 21}));
  EXPECT_EQ(config.scheduler.v, 15);
  EXPECT_THAT(kind_node_names(config, "scheduler"),
              ElementsAre("scheduler-control-plane", "scheduler-worker", "scheduler-worker2",
                          "scheduler-worker3"));
}

TEST(KindConfig, gives_one_control_plane_to_a_file_without_nodes) {
  const KindConfig config = good(head("name: x\n"));
  EXPECT_EQ(config.name, "x");
  ASSERT_EQ(config.nodes.size(), 1u);
  EXPECT_TRUE(config.nodes[0].control_plane);
}

TEST(KindConfig, maps_paths_through_directories_and_takes_arguments_as_a_list) {
  const KindConfig config = good(head(R"(kubeadmConfigPatches:
- |
  kind: ClusterConfiguration
  apiVersion: kubeadm.k8s.io/v1beta4
  scheduler:
    extraArgs:
    - {name: config, value: /in/pod/a/s.conf}
    - {name: v, value: '4'}
    extraVolumes:
    - {name: x, hostPath: /in/node, mountPath: /in/pod}
nodes:
- role: control-plane
  extraMounts:
  - {hostPath: /far, containerPath: /in}
  - {hostPath: ./near, containerPath: /in/node}
)"));
  EXPECT_EQ(config.scheduler.config_file, "./near/a/s.conf");
  EXPECT_EQ(config.scheduler.v, 4);
  EXPECT_THAT(config.warnings,
              ElementsAre("c.yaml:16:22: \"/in\" has no effect here: nothing reads it"));
}

TEST(KindConfig, has_no_file_name_for_a_path_that_is_not_mapped) {
  const KindConfig config = good(
      head("kubeadmConfigPatches: [\"{kind: ClusterConfiguration, scheduler: {extraArgs: {config: "
           "/x}}}\"]\n"));
  EXPECT_EQ(config.scheduler.config, "/x");
  EXPECT_EQ(config.scheduler.config_file, "");
  EXPECT_EQ(config.scheduler.config_on_node, "/x");
  EXPECT_EQ(config.scheduler.config_at, (TextPosition{3, 24}))
      << "the position of the patch, which is not a block";
}

TEST(KindConfig, warns_once_about_each_field_that_has_no_effect) {
  const KindConfig config = good(head(R"(networking:
  ipFamily: dual
  podSubnet: x
featureGates: {A: true}
nodes:
- role: control-plane
  image: kindest/node:v1.21.1
  extraPortMappings: [{hostPort: 1, containerPort: 1}]
  kubeadmConfigPatches:
  - |
    kind: InitConfiguration
    nodeRegistration: {}
  - |
    kind: ClusterConfiguration
    apiServer: {}
    scheduler:
      extraArgs: {bind-address: 0.0.0.0}
- role: worker
  kubeadmConfigPatches: [x]
  extraMounts: [{hostPath: /a, containerPath: /b, propagation: None}]
)"));
  EXPECT_THAT(
      config.warnings,
      ElementsAre("c.yaml:3:1: networking has no effect here",
                  "c.yaml:6:1: featureGates has no effect here",
                  "c.yaml:9:3: image has no effect here",
                  "c.yaml:10:3: extraPortMappings has no effect here",
                  HasSubstr("a patch of InitConfiguration has no effect here"),
                  "c.yaml:17:5: apiServer has no effect here",
                  "c.yaml:19:19: the scheduler's argument \"bind-address\" has no effect here",
                  "c.yaml:22:51: propagation has no effect here",
                  HasSubstr("\"/b\" has no effect here: nothing reads it"),
                  "c.yaml:21:3: kubeadmConfigPatches of a worker has no effect here"));
}

TEST(KindConfig, names_line_and_column_of_a_mistake) {
  EXPECT_EQ(mistake("kind: Cluster\napiVersion: kind.sigs.k8s.io/v1alpha3\n"),
            "c.yaml:2:13: expected a Cluster of kind.x-k8s.io/v1alpha4");
  EXPECT_EQ(mistake("- a\n"), "c.yaml:1:1: expected a Cluster of kind.x-k8s.io/v1alpha4");
  EXPECT_EQ(mistake(""), "c.yaml:1:1: expected a Cluster of kind.x-k8s.io/v1alpha4");
  EXPECT_EQ(mistake(head("nodes: {}\n")), "c.yaml:3:8: nodes: expected a list");
  EXPECT_EQ(mistake(head("nodes:\n- role: master\n")),
            "c.yaml:4:9: role: expected control-plane or worker, not \"master\"");
  EXPECT_EQ(mistake(head("nodes:\n- role: worker\n")),
            "c.yaml:4:1: nodes: one of them has to have the role control-plane");
  EXPECT_EQ(mistake(head("nodes: [x]\n")), "c.yaml:3:9: node: expected a map");
  EXPECT_THAT(mistake(head("nodes: [\n")), HasSubstr("c.yaml:"));
}

TEST(KindConfig, reports_mistakes_in_a_patch_at_their_position_in_the_file) {
  const auto patch = [](std::string_view lines) {
    return head("kubeadmConfigPatches:\n  - |\n    kind: ClusterConfiguration\n" +
                std::string(lines));
  };
  EXPECT_EQ(mistake(patch("    scheduler:\n      extraArgs: {v: x}\n")),
            "c.yaml:7:22: v: expected a number from 0 to 100");
  EXPECT_EQ(mistake(patch("    scheduler:\n      extraArgs: {config: s.conf}\n")),
            "c.yaml:7:27: config: expected a path that begins with /");
  EXPECT_EQ(mistake(patch("    scheduler: [1]\n")), "c.yaml:6:16: scheduler: expected a map");
  EXPECT_THAT(mistake(patch("    scheduler: {\n")), HasSubstr("c.yaml:"));
  EXPECT_THAT(mistake(patch("    a: b: c\n")), HasSubstr("c.yaml:6:"));
}

}  // namespace
}  // namespace plim::local::cluster
