#include "cli/doctor/probes.hpp"

#include <filesystem>
#include <fstream>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/doctor/kubelet_config.hpp"

namespace plim::cli::doctor {
namespace {

using ::testing::HasSubstr;

constexpr SystemCalls kAllWorks{
    .try_cycle_counter = []() -> Result<void> { return {}; },
    .try_software_counter = []() -> Result<void> { return {}; },
    .clock_is_synchronized = []() -> Result<bool> { return true; },
    .open_files_limit = [] { return std::uint64_t{1'048'576}; },
    .effective_user = [] { return 0u; },
};

// A host made of files in a temporary folder.
class Doctor : public ::testing::Test {
 protected:
  Doctor() {
    std::string pattern = ::testing::TempDir() + "doctorXXXXXX";
    root_ = ::mkdtemp(pattern.data());
  }

  ~Doctor() override { std::filesystem::remove_all(root_); }

  void put(const std::string& path, std::string_view text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }

  void folder(const std::string& path) { std::filesystem::create_directories(root_ + path); }

  void socket(const std::string& path) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    std::string full = root_ + path;
    full.copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ::close(fd);
  }

  Host host(const SystemCalls& calls = kAllWorks) const { return Host(root_, calls); }

  std::string root_;
};

TEST_F(Doctor, every_probe_survives_an_empty_host) {
  for (const Probe& probe : probes()) {
    Finding finding = probe.run(host());
    EXPECT_FALSE(finding.found.empty()) << probe.check;
    if (finding.status == Status::degraded || finding.status == Status::failed) {
      EXPECT_FALSE(finding.effect.empty()) << probe.check;
      EXPECT_FALSE(finding.remedy.empty()) << probe.check;
    }
  }
}

TEST_F(Doctor, every_probe_survives_this_machine) {
  for (const Probe& probe : probes())
    EXPECT_FALSE(probe.run(Host("/")).found.empty()) << probe.check;
}

TEST_F(Doctor, old_kernels_are_degraded) {
  put("/proc/sys/kernel/osrelease", "4.15.0-generic\n");
  EXPECT_EQ(probe_kernel(host()).status, Status::degraded);
  put("/proc/sys/kernel/osrelease", "6.1.0-26-amd64\n");
  EXPECT_EQ(probe_kernel(host()).status, Status::ok);
  EXPECT_EQ(probe_kernel(host()).found, "Linux 6.1.0-26-amd64");
}

TEST_F(Doctor, counts_cpus_and_numa_nodes) {
  put("/sys/devices/system/cpu/online", "0-3,8-11\n");
  put("/sys/devices/system/node/online", "0-1\n");
  put("/sys/devices/system/cpu/smt/active", "1\n");
  EXPECT_EQ(probe_cpus(host()).found, "8 online (0-3,8-11), 2 NUMA nodes, SMT on");
}

TEST_F(Doctor, reports_cgroup_versions_and_missing_controllers) {
  EXPECT_EQ(probe_cgroups(host()).status, Status::failed);
  folder("/sys/fs/cgroup/cpu");
  folder("/sys/fs/cgroup/memory");
  EXPECT_THAT(probe_cgroups(host()).found, HasSubstr("v1; missing: cpuset io pids"));
  put("/sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory hugetlb pids\n");
  EXPECT_EQ(probe_cgroups(host()).status, Status::ok);
  put("/sys/fs/cgroup/cgroup.controllers", "cpu memory pids\n");
  EXPECT_EQ(probe_cgroups(host()).status, Status::degraded);
  EXPECT_THAT(probe_cgroups(host()).found, HasSubstr("missing: cpuset io"));
}

TEST_F(Doctor, finds_a_delegated_group) {
  put("/sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
  put("/proc/self/cgroup", "1:name=systemd:/x\n0::/user.slice/mine\n");
  EXPECT_THAT(probe_cgroup_delegation(host()).found, HasSubstr("no cgroup is writable"));
  put("/sys/fs/cgroup/user.slice/mine/cgroup.procs", "");
  put("/sys/fs/cgroup/user.slice/mine/cgroup.controllers", "memory pids\n");
  Finding finding = probe_cgroup_delegation(host());
  EXPECT_EQ(finding.status, Status::degraded);
  EXPECT_EQ(finding.found, "/user.slice/mine is delegated with memory pids");
  put("/sys/fs/cgroup/cgroup.subtree_control", "");
  EXPECT_EQ(probe_cgroup_delegation(host()).status, Status::ok);
}

TEST_F(Doctor, finds_the_cgroup_driver_by_tree_and_configuration) {
  EXPECT_EQ(probe_cgroup_driver(host()).status, Status::absent);
  folder("/sys/fs/cgroup/kubepods.slice");
  EXPECT_EQ(probe_cgroup_driver(host()).found, "systemd");
  put("/var/lib/kubelet/config.yaml", "cgroupDriver: cgroupfs\n");
  EXPECT_EQ(probe_cgroup_driver(host()).status, Status::degraded);
}

TEST_F(Doctor, distinguishes_missing_counters_from_missing_permissions) {
  put("/proc/sys/kernel/perf_event_paranoid", "2\n");
  EXPECT_EQ(probe_perf(host()).found, "perf_event_paranoid=2, hardware counters work");
  SystemCalls no_pmu = kAllWorks;
  no_pmu.try_cycle_counter = []() -> Result<void> { return fail(Code::not_found, "no such file"); };
  EXPECT_THAT(probe_perf(host(no_pmu)).remedy, HasSubstr("bare metal"));
  SystemCalls no_rights = no_pmu;
  no_rights.try_software_counter = []() -> Result<void> { return fail(Code::forbidden, "no"); };
  EXPECT_THAT(probe_perf(host(no_rights)).remedy, HasSubstr("perf_event_paranoid"));
}

TEST_F(Doctor, pressure_is_there_or_not) {
  EXPECT_EQ(probe_pressure(host()).status, Status::degraded);
  put("/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n");
  EXPECT_EQ(probe_pressure(host()).status, Status::ok);
}

TEST_F(Doctor, resctrl_may_be_absent_unmounted_or_mounted) {
  put("/proc/cpuinfo", "flags\t\t: fpu vme\n");
  EXPECT_EQ(probe_resctrl(host()).status, Status::absent);
  put("/proc/cpuinfo", "flags\t\t: fpu cqm_llc rdt_a\n");
  EXPECT_EQ(probe_resctrl(host()).status, Status::degraded);
  put("/sys/fs/resctrl/schemata", "    L3:0=fff;1=fff\n    MB:0=100\n");
  EXPECT_EQ(probe_resctrl(host()).found, "mounted: L3, MB");
}

TEST_F(Doctor, names_missing_capabilities) {
  put("/proc/self/status", "Name:\tx\nCapEff:\t000001ffffffffff\nSeccomp:\t0\n");
  EXPECT_EQ(probe_permissions(host()).status, Status::ok);
  put("/proc/self/status", "Name:\tx\nCapEff:\t0000000000000000\n");
  SystemCalls user = kAllWorks;
  user.effective_user = [] { return 1000u; };
  Finding finding = probe_permissions(host(user));
  EXPECT_EQ(finding.status, Status::degraded);
  EXPECT_THAT(finding.found, HasSubstr("user 1000, without CAP_SYS_ADMIN"));
}

TEST_F(Doctor, reports_limits_and_clock) {
  SystemCalls poor = kAllWorks;
  poor.open_files_limit = [] { return std::uint64_t{1024}; };
  poor.clock_is_synchronized = []() -> Result<bool> { return false; };
  EXPECT_EQ(probe_open_files(host(poor)).status, Status::degraded);
  EXPECT_EQ(probe_clock(host(poor)).status, Status::degraded);
  EXPECT_EQ(probe_open_files(host()).status, Status::ok);
  EXPECT_EQ(probe_clock(host()).status, Status::ok);
}

TEST_F(Doctor, sees_the_static_cpu_manager) {
  EXPECT_EQ(probe_kubelet(host()).status, Status::absent);
  put("/var/lib/kubelet/config.yaml",
      "apiVersion: kubelet.config.k8s.io/v1beta1\ncpuManagerPolicy: static\n");
  Finding asked = probe_kubelet(host());
  EXPECT_EQ(asked.status, Status::degraded);
  EXPECT_THAT(asked.found, HasSubstr("static"));
  // What runs wins over what the file asks for.
  put("/var/lib/kubelet/cpu_manager_state", R"({"policyName":"none","defaultCpuSet":""})");
  EXPECT_EQ(probe_kubelet(host()).status, Status::ok);
  put("/var/lib/kubelet/config.yaml", "a: [\n");
  EXPECT_EQ(probe_kubelet(host()).status, Status::failed);
}

TEST_F(Doctor, lists_runtime_sockets_and_ignores_plain_files) {
  put("/run/crio/crio.sock", "");
  EXPECT_EQ(probe_runtime(host()).status, Status::absent);
  socket("/run/containerd/containerd.sock");
  EXPECT_EQ(probe_runtime(host()).found, "/run/containerd/containerd.sock");
}

}  // namespace
}  // namespace plim::cli::doctor
