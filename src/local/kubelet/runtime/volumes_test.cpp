#include "local/kubelet/runtime/volumes.hpp"

#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/testing/temp_dir.hpp"
#include "local/apiserver/testing/api_fixture.hpp"

namespace plim::local::kubelet {
namespace {

PodSources sources() {
  PodSources out;
  out.config_maps["cm"] =
      apiserver::testing::parsed(R"({"data":{"a":"1","b":"2"},"binaryData":{"c":"Mw=="}})");
  out.secrets["s"] = apiserver::testing::parsed(R"({"data":{"p":"c2VjcmV0"}})");
  out.tokens[{"", 3600}] = "tok";
  return out;
}

const json::value kMounting = json::value{
    {"metadata", {{"name", "web"}, {"namespace", "shop"}, {"labels", {{"b", "2"}, {"a", "1"}}}}},
    {"spec", json::object()}};

std::string files_of(std::string_view volume) {
  auto files = volume_files(kMounting, apiserver::testing::parsed(volume), {}, sources());
  if (!files) return files.error().message;
  std::string out;
  for (const VolumeFile& file : *files)
    out += fmt::format("{}={}({:o}) ", file.path, file.content, file.mode);
  return out;
}

TEST(Volumes, hold_what_their_sources_say) {
  struct Row {
    const char *volume, *want;
  };

  const std::vector<Row> rows{
      {R"({"configMap":{"name":"cm"}})", "a=1(644) b=2(644) c=3(644) "},
      {R"({"configMap":{"name":"cm","defaultMode":256,"items":[{"key":"b","path":"x/y"}]}})",
       "x/y=2(400) "},
      {R"({"secret":{"secretName":"s"}})", "p=secret(644) "},
      {R"({"configMap":{"name":"no"}})", "configmap \"no\" not found"},
      {R"({"configMap":{"name":"no","optional":true}})", ""},
      {R"({"secret":{"secretName":"s","items":[{"key":"q","path":"q"}]}})",
       "references non-existent secret key: q"},
      {R"({"configMap":{"name":"cm","items":[{"key":"b","path":"../y"}]}})",
       "path \"../y\" leads out of its volume"},
      {R"({"downwardAPI":{"items":[{"path":"l","fieldRef":{"fieldPath":"metadata.labels"}}]}})",
       "l=a=\"1\"\nb=\"2\"(644) "},
      {R"({"projected":{"sources":[{"configMap":{"name":"cm","items":[{"key":"a","path":"a"}]}},
          {"serviceAccountToken":{"path":"token","expirationSeconds":3600}}]}})",
       "a=1(644) token=tok(600) "},
  };
  for (const Row& row : rows) EXPECT_EQ(files_of(row.volume), row.want) << row.volume;
}

TEST(Volumes, let_users_that_the_pod_names_read_its_token) {
  const json::value volume = apiserver::testing::parsed(R"({"projected":{"sources":[
      {"serviceAccountToken":{"path":"token","expirationSeconds":3600}}]}})");
  for (std::string_view spec :
       {R"({"securityContext":{"runAsUser":5}})", R"({"securityContext":{"fsGroup":5}})",
        R"({"containers":[{},{"securityContext":{"runAsUser":5}}]})"}) {
    const json::value pod{{"metadata", {{"name", "web"}}},
                          {"spec", apiserver::testing::parsed(spec)}};
    auto files = volume_files(pod, volume, {}, sources());
    ASSERT_TRUE(files) << files.error().message;
    EXPECT_EQ(files->at(0).mode, 0644) << spec;
  }
}

TEST(Volumes, are_made_below_the_pods_directory) {
  plim::testing::TempDir dir;
  const VolumeRoots roots{.pod = dir / "pod", .claims = dir / "claims"};
  ASSERT_TRUE(make_directories(dir / "pod/volumes"));
  json::value pod = apiserver::testing::parsed(
      R"({"metadata":{"name":"web","namespace":"shop","uid":"u"},"spec":{"volumes":[
      {"name":"scratch","emptyDir":{}},{"name":"conf","configMap":{"name":"cm"}},
      {"name":"data","persistentVolumeClaim":{"claimName":"disk"}}]}})");
  auto made = make_volumes(pod, {}, sources(), roots);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(read_file(dir / "pod/volumes/conf/a").value_or(""), "1");
  ASSERT_TRUE(write_file(dir / "pod/volumes/data/kept", "x"));
  EXPECT_EQ(read_file(dir / "claims/shop/disk/kept").value_or(""), "x");
  ASSERT_TRUE(make_volumes(pod, {}, sources(), roots));  // again, after a restart
}

TEST(Volumes, of_the_host_belong_to_the_node_where_nodes_must_not_share) {
  plim::testing::TempDir dir;
  const VolumeRoots roots{
      .pod = dir / "pod", .claims = "", .kubelet = dir / "kubelet", .host = dir / "host"};
  EXPECT_EQ(host_path("/var/lib/kubelet/device-plugins", roots), dir / "kubelet/device-plugins");
  EXPECT_EQ(host_path("/var/lib/kubelet/", roots), dir / "kubelet");
  EXPECT_EQ(host_path("/run/plimsoll", roots), dir / "kubelet");
  EXPECT_EQ(host_path("/run/containerd/containerd.sock", roots),
            dir / "kubelet/containerd/containerd.sock");
  EXPECT_EQ(host_path("/var/run/containerd/", roots), dir / "kubelet/containerd");
  EXPECT_EQ(host_path("/run/containerd-shim", roots), "/run/containerd-shim");
  EXPECT_EQ(host_path("/var/lib/kubelets", roots), "/var/lib/kubelets");
  EXPECT_EQ(host_path("/run/plimsoll/t/n1", roots), "/run/plimsoll/t/n1") << "another cluster's";
  EXPECT_EQ(host_path("/proc", roots), "/proc");
  EXPECT_EQ(host_path("/opt/bin/no-such-program", roots), dir / "host/opt/bin/no-such-program");
  EXPECT_EQ(host_path("/opt/bin", {.pod = "", .claims = ""}), "/opt/bin");
  EXPECT_EQ(host_path("/opt/bin/", roots), dir / "host/opt/bin");
}

TEST(Volumes, name_the_one_that_fails) {
  plim::testing::TempDir dir;
  const json::value pod =
      apiserver::testing::parsed(R"({"metadata":{"name":"web","namespace":"shop"},
      "spec":{"volumes":[{"name":"v","secret":{"secretName":"no"}}]}})");
  auto made = make_volumes(pod, {}, sources(), {.pod = dir.path(), .claims = ""});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message,
            "MountVolume.SetUp failed for volume \"v\" : secret \"no\" not found");
}

TEST(Volumes, of_claims_stay_in_the_directory_of_their_namespace) {
  plim::testing::TempDir dir;
  const VolumeRoots roots{.pod = dir / "pod", .claims = dir / "claims"};
  for (std::string_view name : {"../..", "..", ".", "a/b", "/etc", ""}) {
    json::value volume{{"name", "v"}, {"persistentVolumeClaim", {{"claimName", name}}}};
    const json::value pod{{"metadata", {{"name", "web"}, {"namespace", "shop"}}},
                          {"spec", {{"volumes", json::array{std::move(volume)}}}}};
    auto made = make_volumes(pod, {}, sources(), roots);
    ASSERT_FALSE(made) << name;
    EXPECT_THAT(made.error().message, ::testing::HasSubstr("is not the name of a Persistent"));
  }
}

TEST(Volumes, replace_what_a_container_has_put_in_place_of_a_file) {
  plim::testing::TempDir dir;
  const VolumeRoots roots{.pod = dir / "pod", .claims = ""};
  ASSERT_TRUE(make_directories(dir / "pod/volumes/conf"));
  ASSERT_TRUE(write_file(dir / "passwd", "kept"));
  ASSERT_EQ(::symlink((dir / "passwd").c_str(), (dir / "pod/volumes/conf/a").c_str()), 0);
  ASSERT_EQ(::mkfifo((dir / "pod/volumes/conf/b").c_str(), 0666), 0);
  const json::value pod =
      apiserver::testing::parsed(R"({"metadata":{"name":"web","namespace":"shop"},
      "spec":{"volumes":[{"name":"conf","configMap":{"name":"cm"}}]}})");
  ASSERT_TRUE(make_volumes(pod, {}, sources(), roots));
  EXPECT_EQ(read_file(dir / "passwd"), "kept");
  EXPECT_EQ(read_file(dir / "pod/volumes/conf/a"), "1");
  EXPECT_EQ(read_file(dir / "pod/volumes/conf/b"), "2");
}

TEST(Volumes, in_memory_are_closed_to_other_users) {
  json::value pod = apiserver::testing::parsed(R"({"metadata":{"name":"web","uid":"u"},
      "spec":{"volumes":[{"name":"m","emptyDir":{"medium":"Memory"}}]}})");
  pod.at("metadata").as_object()["uid"] = fmt::format("test-{}", ::getpid());
  plim::testing::TempDir dir;
  const VolumeRoots roots{.pod = dir.path(), .claims = ""};
  const std::string path = fmt::format("/dev/shm/plimsoll-test-{}", ::getpid());
  ASSERT_TRUE(make_directories(dir / "volumes"));
  ASSERT_TRUE(make_volumes(pod, {}, sources(), roots));
  struct stat info{};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700u);
  ASSERT_TRUE(make_volumes(pod, {}, sources(), roots)) << "again, after a restart";
  remove_volumes(pod);
  EXPECT_NE(::stat(path.c_str(), &info), 0);
  ASSERT_EQ(::mkdir(path.c_str(), 0777), 0);  // by somebody else
  ::chmod(path.c_str(), 0777);
  EXPECT_FALSE(make_volumes(pod, {}, sources(), roots));
  remove_volumes(pod);
}

TEST(Volumes, are_mounted_from_outside_to_inside) {
  plim::testing::TempDir dir;
  const json::value pod =
      apiserver::testing::parsed(R"({"spec":{"volumes":[{"name":"a","emptyDir":{}},
      {"name":"h","hostPath":{"path":"/srv"}}]}})");
  const json::value container = apiserver::testing::parsed(R"({"volumeMounts":[
      {"name":"a","mountPath":"/x/y","subPath":"s"},{"name":"h","mountPath":"/x","readOnly":true}]})");
  ASSERT_TRUE(make_directories(dir / "volumes/a"));
  auto mounts = container_mounts(pod, container, {.pod = dir.path(), .claims = ""}, {});
  ASSERT_TRUE(mounts) << mounts.error().message;
  ASSERT_EQ(mounts->size(), 2U);
  EXPECT_EQ((*mounts)[0].to, "/x");
  EXPECT_EQ((*mounts)[0].from, "/srv");
  EXPECT_TRUE((*mounts)[0].read_only);
  EXPECT_EQ((*mounts)[1].from, dir / "volumes/a/s");
  EXPECT_EQ((*mounts)[1].volume, dir / "volumes/a");
  EXPECT_FALSE((*mounts)[1].read_only);
}

}  // namespace
}  // namespace plim::local::kubelet
