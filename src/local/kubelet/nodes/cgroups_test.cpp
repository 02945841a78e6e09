#include "local/kubelet/nodes/cgroups.hpp"

#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/testing/temp_dir.hpp"
#include "local/kubelet/nodes/pod_limits.hpp"

namespace plim::local::kubelet {
namespace {

using plim::testing::TempDir;

json::value make(std::string_view text) {
  return *parse_json(text);
}

constexpr std::string_view kGuaranteed =
    R"({"metadata":{"uid":"aa-1"},"spec":{"containers":[{"name":"c",
        "resources":{"requests":{"cpu":"2","memory":"1Gi"},"limits":{"cpu":"2","memory":"1Gi"}}}]}})";
constexpr std::string_view kBurstable =
    R"({"metadata":{"uid":"bb-2"},"spec":{"containers":[
        {"name":"c","resources":{"requests":{"cpu":"250m"},"limits":{"cpu":"500m","memory":"64Mi"}}},
        {"name":"d","resources":{"requests":{"cpu":"750m"}}}]}})";
constexpr std::string_view kBestEffort =
    R"({"metadata":{"uid":"cc-3"},"spec":{"containers":[{"name":"c"}]}})";

// A tree for tests, of either version.
struct Machine {
  explicit Machine(int version) : v2(version == 2) {
    if (v2) {
      EXPECT_TRUE(make_directories(host / "sys/fs/cgroup"));
      EXPECT_TRUE(write_file(host / "sys/fs/cgroup/cgroup.controllers", "cpu cpuset memory pids"));
    } else {
      for (const char* name : {"cpu,cpuacct", "memory", "cpuset", "pids"})
        EXPECT_TRUE(make_directories(host / fmt::format("sys/fs/cgroup/{}", name)));
      EXPECT_TRUE(write_file(host / "sys/fs/cgroup/cpuset/cpuset.cpus", "0-7"));
    }
  }

  std::unique_ptr<NodeCgroups> open(CgroupDriver driver) const {
    CgroupOptions options{.node = "n1", .driver = driver, .host_root = host.path(), .cpus = "0-3"};
    options.milli_cpu = 4000;
    options.memory_bytes = std::int64_t{8} << 30;
    options.pids_per_pod = 500;
    return open_node_cgroups(options);
  }

  // A value below the node's root; `v1` names hierarchy and file, `v2_file` the file.
  std::string value(const std::string& path, const std::string& v1,
                    const std::string& v2_file) const {
    const std::string base = host / "sys/fs/cgroup";
    const std::size_t slash = v1.find('/');
    const std::string at = v2 ? fmt::format("{}/plimsoll-default/n1/{}/{}", base, path, v2_file)
                              : fmt::format("{}/{}/plimsoll-default/n1/{}/{}", base,
                                            v1.substr(0, slash), path, v1.substr(slash + 1));
    return node::read_cgroup_file(at);
  }

  std::string cpu(const std::string& path) const {
    return value(path, "cpu,cpuacct/cpu.shares", "cpu.weight");
  }

  std::string quota(const std::string& path) const {
    return value(path, "cpu,cpuacct/cpu.cfs_quota_us", "cpu.max");
  }

  std::string memory(const std::string& path) const {
    return value(path, "memory/memory.limit_in_bytes", "memory.max");
  }

  TempDir host;
  bool v2;
};

struct Case {
  int version;
  CgroupDriver driver;
};

class NodeCgroupsTable : public ::testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(
    Nodes, NodeCgroupsTable,
    ::testing::Values(Case{1, CgroupDriver::cgroupfs}, Case{1, CgroupDriver::systemd},
                      Case{2, CgroupDriver::cgroupfs}, Case{2, CgroupDriver::systemd}),
    [](const auto& tested) {
      return fmt::format("v{}_{}", tested.param.version, node::driver_name(tested.param.driver));
    });

TEST_P(NodeCgroupsTable, has_a_kubelets_directories_and_values) {
  const Machine machine(GetParam().version);
  const auto cgroups = machine.open(GetParam().driver);
  ASSERT_TRUE(cgroups->available()) << cgroups->why_not();
  EXPECT_EQ(cgroups->root(), "/plimsoll-default/n1");
  const bool systemd = GetParam().driver == CgroupDriver::systemd;
  const std::string all = systemd ? "kubepods.slice" : "kubepods";
  const std::string burstable = all + (systemd ? "/kubepods-burstable.slice" : "/burstable");
  const std::string besteffort = all + (systemd ? "/kubepods-besteffort.slice" : "/besteffort");
  const std::string pod_a = all + (systemd ? "/kubepods-podaa_1.slice" : "/podaa-1");
  const std::string pod_b =
      burstable + (systemd ? "/kubepods-burstable-podbb_2.slice" : "/podbb-2");
  const std::string pod_c =
      besteffort + (systemd ? "/kubepods-besteffort-podcc_3.slice" : "/podcc-3");
  const std::string container = systemd ? "/cri-containerd-c0ffee.scope" : "/c0ffee";
  for (std::string_view text : {kGuaranteed, kBurstable, kBestEffort}) {
    ASSERT_TRUE(cgroups->make_pod(make(text)));
    ASSERT_TRUE(cgroups->make_container(make(text), "c", "containerd://c0ffee"));
  }

  EXPECT_EQ(machine.value("", "cpuset/cpuset.cpus", "cpuset.cpus"), "0-3");
  const bool v2 = machine.v2;
  EXPECT_EQ(machine.cpu(all), v2 ? "157" : "4096");
  EXPECT_EQ(machine.memory(all), "8589934592");
  EXPECT_EQ(machine.cpu(burstable), v2 ? "39" : "1024");
  EXPECT_EQ(machine.cpu(besteffort), v2 ? "1" : "2");
  EXPECT_EQ(machine.cpu(pod_a), v2 ? "79" : "2048");
  EXPECT_EQ(machine.quota(pod_a), v2 ? "200000 100000" : "200000");
  EXPECT_EQ(machine.memory(pod_a), "1073741824");
  EXPECT_EQ(machine.value(pod_a, "pids/pids.max", "pids.max"), "500");
  EXPECT_EQ(machine.quota(pod_a + container), v2 ? "200000 100000" : "200000");
  EXPECT_EQ(machine.cpu(pod_b), v2 ? "39" : "1024");
  EXPECT_EQ(machine.quota(pod_b), v2 ? "max 100000" : "-1");
  EXPECT_EQ(machine.memory(pod_b), v2 ? "max" : "-1");
  EXPECT_EQ(machine.cpu(pod_b + container), v2 ? "10" : "256");
  EXPECT_EQ(machine.quota(pod_b + container), v2 ? "50000 100000" : "50000");
  EXPECT_EQ(machine.memory(pod_b + container), "67108864");
  EXPECT_EQ(machine.cpu(pod_c), v2 ? "1" : "2");
  EXPECT_EQ(machine.cpu(pod_c + container), v2 ? "1" : "2");
  EXPECT_EQ(cgroups->procs_files(make(kBestEffort), "c0ffee").size(), v2 ? 1u : 4u);

  ASSERT_TRUE(cgroups->remove_pod(make(kBurstable)));
  EXPECT_EQ(machine.cpu(burstable), v2 ? "1" : "2");
  EXPECT_EQ(machine.cpu(pod_b), "");
  ASSERT_TRUE(cgroups->remove_pod(make(kBurstable))) << "gone already";
  ASSERT_TRUE(cgroups->remove_node());
  EXPECT_EQ(machine.cpu(all), "");
}

TEST(NodeCgroups, keep_pods_of_an_earlier_process) {
  const Machine machine(1);
  ASSERT_TRUE(machine.open(CgroupDriver::cgroupfs)->make_pod(make(kBurstable)));
  const auto again = machine.open(CgroupDriver::cgroupfs);
  ASSERT_TRUE(again->make_pod(make(kBurstable)));
  EXPECT_EQ(machine.cpu("kubepods/burstable"), "1024");
}

TEST(NodeCgroups, remove_ended_containers) {
  const Machine machine(1);
  const auto cgroups = machine.open(CgroupDriver::cgroupfs);
  const json::value pod = make(kBurstable);
  ASSERT_TRUE(cgroups->make_pod(pod));
  ASSERT_TRUE(cgroups->make_container(pod, "c", "one"));
  EXPECT_TRUE(cgroups->usage(pod, "one"));
  EXPECT_TRUE(cgroups->processes(pod, "").empty());
  cgroups->kill(pod, "one");
  EXPECT_FALSE(cgroups->usage(pod, "one"));
  EXPECT_TRUE(cgroups->usage(pod, ""));
}

TEST(NodeCgroups, refuse_names_that_lead_elsewhere) {
  const Machine machine(1);
  const auto cgroups = machine.open(CgroupDriver::cgroupfs);
  EXPECT_EQ(cgroups->make_pod(make(R"({"metadata":{"uid":"../x"}})")).error().code, Code::invalid);
  EXPECT_EQ(cgroups->make_pod(make("{}")).error().code, Code::invalid);
  EXPECT_EQ(cgroups->make_container(make(kBurstable), "c", "a/b").error().code, Code::invalid);
  EXPECT_EQ(cgroups->make_container(make(kBurstable), "z", "a").error().code, Code::not_found);
}

TEST(NodeCgroups, do_nothing_where_there_are_none) {
  const TempDir empty;
  const auto cgroups = open_node_cgroups({.node = "n1", .host_root = empty.path()});
  EXPECT_FALSE(cgroups->available());
  EXPECT_EQ(cgroups->why_not(), "no cgroup hierarchy is mounted");
  EXPECT_TRUE(cgroups->make_pod(make(kBurstable)));
  EXPECT_TRUE(cgroups->procs_files(make(kBurstable), "one").empty());
  EXPECT_TRUE(cgroups->remove_pod(make(kBurstable)));
}

TEST(PodLimits, count_init_containers_as_the_scheduler_does) {
  const json::value pod = make(
      R"({"spec":{"overhead":{"cpu":"10m"},"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}],
          "initContainers":[
            {"name":"s","restartPolicy":"Always","resources":{"requests":{"cpu":"200m"}}},
            {"name":"i","resources":{"requests":{"cpu":"2"}}}]}})");
  EXPECT_EQ(pod_amount(pod, "requests", "cpu").milli_value(), 2210);
  EXPECT_EQ(qos_of(pod), node::Qos::burstable);
  EXPECT_EQ(find_container(pod, "i"), &pod.at("spec").at("initContainers").at(1));
}

TEST(PodLimits, take_odd_values_for_none) {
  const json::value pod = make(
      R"({"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":"x","memory":[1]}}},7]}})");
  EXPECT_EQ(qos_of(pod), node::Qos::best_effort);
  EXPECT_EQ(container_limits(pod.at("spec").at("containers").at(0)).memory,
            node::CgroupLimits::kUnlimited);
}

}  // namespace
}  // namespace plim::local::kubelet
