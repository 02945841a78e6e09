#include "node/cgroup_tree.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/text.hpp"
#include "node/cgroup_files.hpp"
#include "node/cgroup_names.hpp"

namespace plim::node {
namespace {

std::string limit_text(std::int64_t value, std::string_view unlimited) {
  return value == CgroupLimits::kUnlimited ? std::string(unlimited) : fmt::format("{}", value);
}

// A new cpuset of version 1 is empty and accepts no process until it has values.
Result<void> inherit_cpuset(const std::string& parent, const std::string& child) {
  for (std::string_view file : {"/cpuset.cpus", "/cpuset.mems"}) {
    if (!read_cgroup_file(child + std::string(file)).empty()) continue;
    const std::string value = read_cgroup_file(parent + std::string(file));
    if (!value.empty()) PLIM_CHECK(write_cgroup_file(child + std::string(file), value));
  }
  return {};
}

}  // namespace

CgroupTree CgroupTree::below(std::string_view relative) const {
  CgroupTree out = *this;
  out.path_ += fmt::format("/{}", relative);
  for (Branch& branch : out.branches_) branch.directory += fmt::format("/{}", relative);
  return out;
}

Result<CgroupTree> CgroupTree::make_below(std::string_view relative) const {
  CgroupTree at = *this;
  for (std::string_view part : split(relative, '/')) {
    if (!is_path_part(part))
      return fail(Code::invalid, fmt::format("{} cannot name a cgroup", quote(relative)));
    CgroupTree child = at.below(part);
    for (std::size_t i = 0; i < branches_.size(); ++i) {
      const std::string& parent = at.branches_[i].directory;
      const Branch& branch = child.branches_[i];
      if (branch.v2 && !branch.controllers.empty()) {
        PLIM_CHECK(write_cgroup_file(parent + "/cgroup.subtree_control",
                                     subtree_change('+', branch.controllers)));
      }
      PLIM_CHECK(make_directory(branch.directory));
      if (!branch.v2 && std::ranges::count(branch.controllers, "cpuset") > 0)
        PLIM_CHECK(inherit_cpuset(parent, branch.directory));
    }
    at = std::move(child);
  }
  return at;
}

bool CgroupTree::exists() const {
  std::error_code ignored;
  return !branches_.empty() && std::filesystem::is_directory(branches_[0].directory, ignored);
}

const CgroupTree::Branch* CgroupTree::branch_of(std::string_view controller) const {
  for (const Branch& branch : branches_)
    if (std::ranges::count(branch.controllers, controller) > 0) return &branch;
  return nullptr;
}

Result<void> CgroupTree::set(std::string_view controller, std::string_view v1_file,
                             std::string v1_value, std::string_view v2_file,
                             std::string v2_value) const {
  const Branch* branch = branch_of(controller);
  if (!branch) return {};
  const std::string_view file = branch->v2 ? v2_file : v1_file;
  return write_cgroup_file(fmt::format("{}/{}", branch->directory, file),
                           branch->v2 ? v2_value : v1_value);
}

Result<void> CgroupTree::apply(const CgroupLimits& limits) const {
  if (limits.shares)
    PLIM_CHECK(set("cpu", "cpu.shares", fmt::format("{}", *limits.shares), "cpu.weight",
                   fmt::format("{}", weight_of_shares(*limits.shares))));
  if (limits.quota_us) {
    const Branch* cpu = branch_of("cpu");
    if (cpu && !cpu->v2)
      PLIM_CHECK(write_cgroup_file(cpu->directory + "/cpu.cfs_period_us",
                                   fmt::format("{}", kCpuPeriodUs)));
    PLIM_CHECK(set("cpu", "cpu.cfs_quota_us", fmt::format("{}", *limits.quota_us), "cpu.max",
                   fmt::format("{} {}", limit_text(*limits.quota_us, "max"), kCpuPeriodUs)));
  }
  if (limits.memory)
    PLIM_CHECK(set("memory", "memory.limit_in_bytes", fmt::format("{}", *limits.memory),
                   "memory.max", limit_text(*limits.memory, "max")));
  if (limits.pids) {
    const std::string text = limit_text(*limits.pids, "max");
    PLIM_CHECK(set("pids", "pids.max", text, "pids.max", text));
  }
  if (!limits.cpus.empty())
    PLIM_CHECK(set("cpuset", "cpuset.cpus", limits.cpus, "cpuset.cpus", limits.cpus));
  return {};
}

std::vector<std::string> CgroupTree::procs_files() const {
  std::vector<std::string> out;
  for (const Branch& branch : branches_) out.push_back(branch.directory + "/cgroup.procs");
  return out;
}

std::vector<int> CgroupTree::processes() const {
  std::vector<int> out;
  for (const Branch& branch : branches_) add_processes(branch.directory, out);
  std::ranges::sort(out);
  const auto repeated = std::ranges::unique(out);
  out.erase(repeated.begin(), repeated.end());
  return out;
}

void CgroupTree::kill() const {
  for (const Branch& branch : branches_)
    if (branch.v2 && is_cgroup_filesystem(branch.directory) &&
        write_cgroup_file(branch.directory + "/cgroup.kill", "1"))
      return;
  // A frozen process cannot fork; SIGKILL takes effect when it thaws.
  const Branch* freezer = branch_of("freezer");
  const std::string state = freezer ? freezer->directory + "/freezer.state" : "";
  if (freezer && !write_cgroup_file(state, "FROZEN")) freezer = nullptr;
  for (int pid : processes())
    if (pid > 1 && pid != ::getpid()) ::kill(pid, SIGKILL);
  if (freezer) static_cast<void>(write_cgroup_file(state, "THAWED"));
}

Result<void> CgroupTree::remove() const {
  Result<void> out;
  for (const Branch& branch : branches_)
    if (auto removed = remove_cgroup_directory(branch.directory); !removed)
      out = std::move(removed);
  return out;
}

}  // namespace plim::node
