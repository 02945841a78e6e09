// Reads the usage of a cgroup from the files of either version.
#include <algorithm>

#include "base/files.hpp"
#include "node/cgroup_files.hpp"
#include "node/cgroup_tree.hpp"

namespace plim::node {
namespace {

void read_cpu(const std::string& directory, bool v2, CgroupUsage& out) {
  const std::string stat = read_file(directory + "/cpu.stat").value_or("");
  out.periods = cgroup_stat(stat, "nr_periods");
  out.throttled_periods = cgroup_stat(stat, "nr_throttled");
  out.throttled_ns =
      v2 ? cgroup_stat(stat, "throttled_usec") * 1000 : cgroup_stat(stat, "throttled_time");
  if (v2) out.cpu_ns = cgroup_stat(stat, "usage_usec") * 1000;
}

void read_memory(const std::string& directory, bool v2, CgroupUsage& out) {
  const std::string stat = read_file(directory + "/memory.stat").value_or("");
  out.memory_bytes =
      read_cgroup_number(directory + (v2 ? "/memory.current" : "/memory.usage_in_bytes"));
  const std::uint64_t inactive = cgroup_stat(stat, v2 ? "inactive_file" : "total_inactive_file");
  out.working_set_bytes = out.memory_bytes - std::min(out.memory_bytes, inactive);
  out.rss_bytes = cgroup_stat(stat, v2 ? "anon" : "total_rss");
  const std::string events =
      read_file(directory + (v2 ? "/memory.events" : "/memory.oom_control")).value_or("");
  out.oom_kills = cgroup_stat(events, "oom_kill");
}

}  // namespace

std::optional<CgroupUsage> CgroupTree::usage() const {
  if (!exists()) return std::nullopt;
  CgroupUsage out;
  if (const Branch* cpu = branch_of("cpu")) read_cpu(cpu->directory, cpu->v2, out);
  if (const Branch* accounting = branch_of("cpuacct"))
    out.cpu_ns = read_cgroup_number(accounting->directory + "/cpuacct.usage");
  if (const Branch* memory = branch_of("memory")) read_memory(memory->directory, memory->v2, out);
  return out;
}

}  // namespace plim::node
