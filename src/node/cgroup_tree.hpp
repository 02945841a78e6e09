// One cgroup, held in every hierarchy of the machine at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "node/cgroup_layout.hpp"

namespace plim::node {

// What is not given stays as it is; what the machine has no controller for is left out.
struct CgroupLimits {
  std::optional<std::int64_t> shares = {};    // written as weight on version 2
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

// A value: copying it copies paths. Directories that are no cgroup file system (trees made for
// tests) get plain files.
class CgroupTree {
 public:
  struct Branch {
    std::string directory;
    std::vector<std::string> controllers;  // of version 2 those that can be enabled below
    bool v2 = false;
    std::string own = {};  // where this process is, if the path to `directory` begins there
  };

  CgroupTree() = default;

  explicit CgroupTree(std::vector<Branch> branches) : branches_(std::move(branches)) {}

  // A new cgroup below the one this process is in, at the same path in each hierarchy where that is
  // possible. Version 2 lets only empty cgroups hand out controllers, so there this process moves
  // into `name`/control first. The error says what is missing, for people.
  static Result<CgroupTree> make_below_own(const std::string& host_root, const std::string& name);

  // The path below the mounts, "/plimsoll-default".
  const std::string& path() const { return path_; }

  const std::vector<Branch>& branches() const { return branches_; }

  CgroupTree below(std::string_view relative) const;  // touches nothing
  // With every level in between; fine if it is there. New cpusets of version 1 start as their
  // parents.
  Result<CgroupTree> make_below(std::string_view relative) const;

  bool exists() const;
  Result<void> apply(const CgroupLimits& limits) const;
  std::optional<CgroupUsage> usage() const;  // nullopt: it is gone
  std::vector<std::string> procs_files() const;
  std::vector<int> processes() const;  // here and below
  // SIGKILL for everything here and below, what it starts meanwhile included.
  void kill() const;
  // This and everything below. Code::conflict while processes are left.
  Result<void> remove() const;
  // Of one from make_below_own() that has nothing left below: this process goes back first, and
  // what was only made to have one path everywhere goes too.
  Result<void> remove_own() const;

 private:
  const Branch* branch_of(std::string_view controller) const;
  Result<void> set(std::string_view controller, std::string_view v1_file, std::string v1_value,
                   std::string_view v2_file, std::string v2_value) const;

  std::vector<Branch> branches_;
  std::string path_;
};

}  // namespace plim::node
