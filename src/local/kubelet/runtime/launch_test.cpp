#include "local/kubelet/runtime/launch.hpp"

#include <memory>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "local/kubelet/runtime/testing/node_fixture.hpp"
#include "local/kubelet/shim/shim_spawn.hpp"

namespace plim::local::kubelet {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

Launch launch_of(const std::string& image, std::string_view container) {
  auto made = std::make_shared<images::Image>();
  made->name = images::normalise_image(image);
  made->digest = "sha256:1234";
  if (image == "app") {
    made->entrypoint = {"/bin/app"};
    made->command = {"--fast"};
  }
  Launch out;
  out.pod = apiserver::testing::parsed(R"({"metadata":{"name":"web"},"spec":{}})");
  out.container = apiserver::testing::parsed(container);
  out.id = "abc";
  out.image = made;
  out.environment.set("A", "1");
  out.program = "/usr/bin/plimsoll";
  return out;
}

TEST(Launch, expands_variables_of_device_plugins_in_the_command) {
  Launch launch = launch_of("app", R"x({"command":["pin","$(EXCLUSIVE_CPUS)"]})x");
  launch.grants.env = {{"EXCLUSIVE_CPUS", "4,5"}};
  EXPECT_EQ(container_command(launch), (std::vector<std::string>{"pin", "4,5"}));
}

TEST(Launch, finds_the_command) {
  struct Row {
    const char *image, *container, *want;
  };

  const std::vector<Row> rows{
      {"app", "{}", "/bin/app --fast"},
      {"app", R"({"args":["--slow"]})", "/bin/app --slow"},
      {"app", R"({"command":["sh"]})", "sh"},
      {"app", R"x({"command":["echo"],"args":["$(A)","$(B)"]})x", "echo 1 $(B)"},
      {"other", "{}", "/usr/bin/plimsoll tools sleep infinity"},
      {"plimsoll/tools", R"({"args":["exit","3"]})", "/usr/bin/plimsoll tools exit 3"},
      {"plimsoll/tools", R"({"command":["burn","--cpus","1"]})",
       "/usr/bin/plimsoll tools burn --cpus 1"},
      {"plimsoll/tools", R"({"command":["sh"]})", "sh"},
      {"plimsoll:1.2", R"({"args":["flow"]})", "/usr/bin/plimsoll flow"},
      {"plimsoll:1.2", R"({"command":["plimsoll","flow"]})", "/usr/bin/plimsoll flow"},
      {"plimsoll-other", R"({"command":["plimsoll"]})", "plimsoll"},
  };
  for (const Row& row : rows)
    EXPECT_EQ(
        fmt::format("{}", fmt::join(container_command(launch_of(row.image, row.container)), " ")),
        row.want)
        << row.image << " " << row.container;
}

TEST(Launch, keeps_the_stop_signal_of_the_image) {
  Launch launch = launch_of("app", "{}");
  EXPECT_EQ(text_at(make_start_spec(launch)->tag, {"stopSignal"}), "");
  images::Image other = *launch.image;
  other.stop_signal = "SIGINT";
  launch.image = std::make_shared<const images::Image>(other);
  EXPECT_EQ(text_at(make_start_spec(launch)->tag, {"stopSignal"}), "SIGINT");
}

TEST(Launch, keeps_to_the_security_context) {
  Launch launch = launch_of("app", R"({"securityContext":{"runAsUser":1000,
      "capabilities":{"drop":["ALL"],"add":["NET_ADMIN"]}}})");
  launch.isolated = true;
  launch.pod = apiserver::testing::parsed(R"({"metadata":{"name":"web"},"spec":{"securityContext":
      {"runAsUser":5,"runAsGroup":6,"supplementalGroups":[7],"fsGroup":8}}})");
  auto spec = make_start_spec(launch);
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->uid, 1000U);
  EXPECT_EQ(spec->gid, 6U);
  EXPECT_EQ(spec->groups, (std::vector<gid_t>{7, 8}));
  EXPECT_EQ(spec->capabilities, std::uint64_t{1} << capability_number("NET_ADMIN"));
  EXPECT_TRUE(spec->own_processes);
  EXPECT_TRUE(spec->no_new_privileges);
}

TEST(Launch, other_users_have_the_root_as_their_home) {
  Launch launch = launch_of("app", R"({"securityContext":{"runAsUser":1000}})");
  launch.roots.pod = "/pods/p";
  launch.environment = base_environment(launch.pod, *launch.image, {}, launch.roots);
  EXPECT_THAT(make_start_spec(launch)->env, Contains("HOME=/pods/p/work"));
  launch.isolated = true;
  EXPECT_THAT(make_start_spec(launch)->env, Contains("HOME=/"));
  launch.environment.set("HOME", "/own");
  EXPECT_THAT(make_start_spec(launch)->env, Contains("HOME=/own"));
}

TEST(Launch, leaves_privileged_containers_alone) {
  Launch launch = launch_of("app", R"({"securityContext":{"privileged":true}})");
  launch.isolated = true;
  auto spec = make_start_spec(launch);
  ASSERT_TRUE(spec);
  EXPECT_FALSE(spec->own_processes);
  EXPECT_FALSE(spec->own_devices);
  EXPECT_FALSE(spec->capabilities);
  EXPECT_FALSE(spec->no_new_privileges);
}

TEST(Launch, does_not_run_as_root_where_that_is_forbidden) {
  const Launch launch = launch_of("app", R"({"securityContext":{"runAsNonRoot":true}})");
  auto spec = make_start_spec(launch);
  ASSERT_FALSE(spec);
  EXPECT_EQ(spec.error().message, "container has runAsNonRoot and image will run as root");
}

using IsolatedPod = testing::NodeTest;

TEST_F(IsolatedPod, reaches_a_volume_below_a_directory_that_is_closed_to_its_user) {
  options.isolation = Isolation::automatic;
  start_node();
  if (!node->isolated()) GTEST_SKIP() << "namespaces need root";
  ASSERT_EQ(::chmod(dir.path().c_str(), 0755), 0);
  ASSERT_TRUE(make_directories(dir / "closed", 0700));
  create_pod("a",
             fmt::format(R"({{"restartPolicy":"Never","volumes":[{{"name":"v","emptyDir":{{}}}}],
      "securityContext":{{"runAsUser":65532}},
      "containers":[{{"name":"c","image":"x","command":["sh","-c","echo here > {0}/closed/v/x; cat {0}/closed/v/x; ls {0}/closed"],
        "volumeMounts":[{{"name":"v","mountPath":"{0}/closed/v"}}]}}]}})",
                         dir.path()));
  EXPECT_EQ(follow("a", shows("c:Completed")).back().substr(0, 9), "Succeeded");
  EXPECT_EQ(log_of("a"), "here\nv\n");
}

TEST_F(IsolatedPod, sees_its_volumes_where_it_mounts_them) {
  options.isolation = Isolation::automatic;
  start_node();
  if (!node->isolated()) GTEST_SKIP() << "namespaces need root";
  json::value map{{"metadata", {{"name", "cm"}, {"namespace", "default"}}},
                  {"data", {{"a", "from the map"}}}};
  ASSERT_TRUE(run(client->create(kube::resources::config_maps, {"default", "cm"}, map)));
  create_pod("a", fmt::format(R"({{"restartPolicy":"Never","hostname":"web-7",
      "volumes":[{{"name":"conf","configMap":{{"name":"cm"}}}},{{"name":"tmp","emptyDir":{{}}}}],
      "containers":[{{"name":"c","image":"x","command":["sh","-c",
          "cat {0}/conf/a; echo; hostname; echo $$$$; echo done > /dev/termination-log; touch {0}/tmp/x"],
        "volumeMounts":[{{"name":"conf","mountPath":"{0}/conf"}},
          {{"name":"tmp","mountPath":"{0}/tmp"}}]}}]}})",
                              dir / "inside"));
  EXPECT_EQ(follow("a", shows("c:Completed")).back().substr(0, 9), "Succeeded");
  EXPECT_EQ(log_of("a"), "from the map\nweb-7\n1\n");
  const json::value pod = get_pod("a");
  EXPECT_EQ(text_at(list_at(pod, {"status", "containerStatuses"}).at(0),
                    {"state", "terminated", "message"}),
            "done\n");
}

TEST_F(IsolatedPod, cannot_change_files_that_the_node_writes) {
  options.isolation = Isolation::automatic;
  start_node();
  if (!node->isolated()) GTEST_SKIP() << "namespaces need root";
  json::value map{{"metadata", {{"name", "cm"}, {"namespace", "default"}}}, {"data", {{"a", "1"}}}};
  ASSERT_TRUE(run(client->create(kube::resources::config_maps, {"default", "cm"}, map)));
  create_pod("a", fmt::format(R"({{"restartPolicy":"Never",
      "volumes":[{{"name":"conf","configMap":{{"name":"cm"}}}}],
      "containers":[{{"name":"c","image":"x","command":["sh","-c",
          "cd {0}; ln -sf /etc/passwd a; echo 2 > a; mkfifo p; mount -o remount,rw {0}; ls; cat a"],
        "volumeMounts":[{{"name":"conf","mountPath":"{0}"}}]}}]}})",
                              dir / "inside"));
  follow("a", shows("c:Completed"));
  EXPECT_THAT(log_of("a"), ::testing::EndsWith("\na\n1\n"));
  EXPECT_THAT(log_of("a"), HasSubstr("Read-only file system"));
}

TEST_F(IsolatedPod, cannot_mount_what_is_outside_of_a_volume_by_a_link_in_it) {
  options.isolation = Isolation::automatic;
  start_node();
  if (!node->isolated()) GTEST_SKIP() << "namespaces need root";
  const std::string secret = dir / "secret";
  ASSERT_TRUE(make_directories(secret));
  ASSERT_TRUE(write_file(secret + "/file", "kept"));
  create_pod("a", fmt::format(R"({{"restartPolicy":"Never",
      "volumes":[{{"name":"v","emptyDir":{{}}}}],
      "initContainers":[{{"name":"i","image":"x","command":["sh","-c",
          "cd {0}; ln -s {1} out; mkdir data; ln -s data in"],
        "volumeMounts":[{{"name":"v","mountPath":"{0}"}}]}}],
      "containers":[{{"name":"c","image":"x","command":["sh","-c","touch {0}/x"],
        "volumeMounts":[{{"name":"v","mountPath":"{0}","subPath":"in"}}]}},
      {{"name":"d","image":"x","command":["sh","-c","echo changed > {0}/file"],
        "volumeMounts":[{{"name":"v","mountPath":"{0}","subPath":"out"}}]}}]}})",
                              dir / "inside", secret));
  follow("a", shows("c:Completed"));
  const json::value pod = get_pod("a");
  std::string said;
  for (const json::value& status : list_at(pod, {"status", "containerStatuses"}))
    if (text_at(status, {"name"}) == "d") said = to_json(status);
  EXPECT_THAT(said, HasSubstr("leads out of its volume"));
  EXPECT_EQ(read_file(secret + "/file"), "kept");
}

// Whoever enters the container's mount namespace is in its root, not in that of the machine.
TEST_F(IsolatedPod, has_no_other_root_above_its_own) {
  options.isolation = Isolation::automatic;
  start_node();
  if (!node->isolated()) GTEST_SKIP() << "namespaces need root";
  const std::string top = "/plim-test-" + dir.path().substr(dir.path().size() - 6);
  create_pod("a", fmt::format(R"({{"restartPolicy":"Never","hostPID":true,
      "volumes":[{{"name":"v","emptyDir":{{}}}}],
      "containers":[{{"name":"c","image":"x","command":["sh","-c",
          "if nsenter -t $$$$ -m test -d {0}; then echo inside; else echo outside; fi"],
        "securityContext":{{"privileged":true}},
        "volumeMounts":[{{"name":"v","mountPath":"{0}"}}]}}]}})",
                              top));
  follow("a", shows("c:Completed"));
  EXPECT_EQ(log_of("a"), "inside\n");
}

TEST_F(IsolatedPod, leaves_no_mount_points_behind) {
  options.isolation = Isolation::automatic;
  start_node();
  if (!node->isolated()) GTEST_SKIP() << "namespaces need root";
  const std::string top = "/plim-test-" + dir.path().substr(dir.path().size() - 6);
  const std::string deep = "/usr/lib" + top + "/a/b";
  create_pod("a", fmt::format(R"({{"restartPolicy":"Never",
      "volumes":[{{"name":"v","emptyDir":{{}}}}],
      "containers":[{{"name":"c","image":"x","command":["sh","-c",
          "touch {0}/x {0}/sub/y; ls {0} {0}/sub {1}; ls /usr/lib > /dev/null; test -e /dev/null"],
        "volumeMounts":[{{"name":"v","mountPath":"{0}"}},{{"name":"v","mountPath":"{0}/sub"}},
          {{"name":"v","mountPath":"{1}"}}]}}]}})",
                              top, deep));
  follow("a", shows("c:Completed"));
  EXPECT_EQ(log_of("a"), fmt::format("{0}:\nsub\nx\ny\n\n{0}/sub:\nsub\nx\ny\n\n{1}:\n"
                                     "sub\nx\ny\n",
                                     top, deep));
  EXPECT_NE(::access(top.c_str(), F_OK), 0);
  EXPECT_NE(::access(("/usr/lib" + top).c_str(), F_OK), 0);
}

}  // namespace
}  // namespace plim::local::kubelet
