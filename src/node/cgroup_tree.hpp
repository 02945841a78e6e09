// One cgroup in all hierarchies of the machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "node/cgroup_layout.hpp"

namespace plim::node {

// Values that are not set stay as they are; values without a controller are ignored.
struct CgroupLimits {
  std::optional<std::int64_t> shares = {};    // converted to a weight on version 2
  std::optional<std::int64_t> quota_us = {};  // per kCpuPeriodUs; kUnlimited
  std::optional<std::int64_t> memory = {};    // bytes; kUnlimited
  std::optional<std::int64_t> pids = {};      // kUnlimited
  std::string cpus = {};                      // "0-3"

  static constexpr std::int64_t kUnlimited = -1;
  bool operator==(const CgroupLimits&) const = default;
};

struct CgroupUsage {
  std::uint64_t cpu_ns = 0;
  std::uint64_t memory_bytes = 0;       // all of it
  std::uint64_t working_set_bytes = 0;  // without inactive file pages
  std::uint64_t rss_bytes = 0;
  std::uint64_t throttled_periods = 0, periods = 0, throttled_ns = 0;
  std::uint64_t oom_kills = 0;
};

// A value: copying it copies paths. In directories that are not a cgroup file system (trees made
// for tests) it writes plain files.
class CgroupTree {
 public:
  struct Branch {
    std::string directory;
    std::vector<std::string> controllers;  // for version 2, those that can be enabled below
    bool v2 = false;
    std::string own = {};  // the cgroup of this process, if `directory` is below it
  };

  CgroupTree() = default;

  explicit CgroupTree(std::vector<Branch> branches) : branches_(std::move(branches)) {}

  // Creates a cgroup below that of this process, at the same path in each hierarchy if possible.
  // Version 2 lets only cgroups without processes enable controllers, so this process moves to
  // `name`/control first. Errors tell users what is missing.
  static Result<CgroupTree> make_below_own(const std::string& host_root, const std::string& name);

  // The path below the mounts, "/plimsoll-default".
  const std::string& path() const { return path_; }

  const std::vector<Branch>& branches() const { return branches_; }

  CgroupTree below(std::string_view relative) const;  // changes nothing
  // Creates all levels; succeeds if they exist. New cpusets of version 1 copy the values of their
  // parents.
  Result<CgroupTree> make_below(std::string_view relative) const;

  bool exists() const;
  Result<void> apply(const CgroupLimits& limits) const;
  std::optional<CgroupUsage> usage() const;  // nullopt if it is gone
  std::vector<std::string> procs_files() const;
  std::vector<int> processes() const;  // of this cgroup and all below
  // Sends SIGKILL to all processes here and below, including those that they start meanwhile.
  void kill() const;
  // Removes this cgroup and all below. Code::conflict if processes are left.
  Result<void> remove() const;
  // For a cgroup of make_below_own() with nothing left below: moves this process back first, and
  // also removes the levels that were created to have the same path everywhere.
  Result<void> remove_own() const;

 private:
  const Branch* branch_of(std::string_view controller) const;
  Result<void> set(std::string_view controller, std::string_view v1_file, std::string v1_value,
                   std::string_view v2_file, std::string v2_value) const;

  std::vector<Branch> branches_;
  std::string path_;
};

}  // namespace plim::node
