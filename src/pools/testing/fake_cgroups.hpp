// Cgroups of pods as plain files, for both versions and both drivers.
#pragma once

#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "base/text.hpp"
#include "node/cgroup_names.hpp"
#include "pools/cpuset_tree.hpp"
#include "pools/testing/fake_host.hpp"

namespace plim::pools::testing {

class FakeCgroups {
 public:
  FakeCgroups(FakeHost& host, bool v2, node::CgroupDriver driver)
      : host_(host), v2_(v2), driver_(driver) {
    base_ = v2 ? "/sys/fs/cgroup/" : "/sys/fs/cgroup/cpuset/";
    if (v2) host_.put("/sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids\n");
    all_ = host.topology().present.to_string();
    set(base_ + (driver == node::CgroupDriver::systemd ? "kubepods.slice" : "kubepods"), all_);
  }

  // Creates a container or sandbox as a runtime does, with the CPUs of the pod.
  std::string add(const std::string& uid, const std::string& id,
                  node::Qos qos = node::Qos::guaranteed) {
    const std::string pod = base_ + node::pod_cgroup(driver_, qos, uid);
    set(base_ + node::qos_cgroup(driver_, qos), all_);
    set(pod, v2_ ? "" : all_);
    const std::string path = pod + "/" + node::container_cgroup(driver_, id);
    set(path, v2_ ? "" : all_);
    return host_.root() + path;
  }

  void set(const std::string& path, std::string_view cpus) {
    host_.put(path + "/cpuset.cpus", fmt::format("{}\n", cpus));
    if (!v2_) return;
    // Like a kernel: the written set becomes effective. A cgroup that inherits has an empty set.
    std::error_code ignored;
    std::filesystem::create_symlink("cpuset.cpus", host_.root() + path + "/cpuset.cpus.effective",
                                    ignored);
  }

  // Makes these CPUs effective, whatever is written.
  void give_instead(const std::string& directory, std::string_view cpus) {
    const std::string path = directory + "/cpuset.cpus.effective";
    std::filesystem::remove(path);
    host_.put(path.substr(host_.root().size()), fmt::format("{}\n", cpus));
  }

  static std::string cpus(const std::string& path) {
    std::string text = read_file(path + "/cpuset.cpus").value_or("gone");
    return std::string(trim(text));
  }

  CpusetTree open() const {
    auto tree = CpusetTree::open({.host_root = host_.root()});
    PLIM_ASSERT(tree.has_value());
    return std::move(*tree);
  }

 private:
  FakeHost& host_;
  bool v2_;
  node::CgroupDriver driver_;
  std::string base_, all_;
};

}  // namespace plim::pools::testing
