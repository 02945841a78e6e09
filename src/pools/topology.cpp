#include "pools/topology.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/text.hpp"

namespace plim::pools {
namespace {

namespace fs = std::filesystem;

std::string cpu_directory(const std::string& host_root) {
  return (host_root == "/" ? "" : host_root) + "/sys/devices/system/cpu";
}

std::optional<CpuSet> read_list(const std::string& path) {
  auto text = read_file(path);
  if (!text) return std::nullopt;
  auto set = parse_cpu_list(*text);
  if (!set) return std::nullopt;
  return std::move(*set);
}

std::optional<int> read_number(const std::string& path) {
  auto text = read_file(path);
  if (!text) return std::nullopt;
  auto value = parse_int(trim(*text));
  if (!value) return std::nullopt;
  return *value;
}

void read_cpu(const std::string& directory, int number, Cpu& out) {
  const std::string base = fmt::format("{}/cpu{}", directory, number);
  if (auto package = read_number(base + "/topology/physical_package_id")) out.package = *package;
  auto siblings = read_list(base + "/topology/core_cpus_list");
  if (!siblings) siblings = read_list(base + "/topology/thread_siblings_list");
  if (siblings) out.siblings = std::move(*siblings);
  out.siblings.add(number);
  if (auto id = read_number(base + "/cache/index3/id")) {
    out.l3 = *id;
  } else if (auto shared = read_list(base + "/cache/index3/shared_cpu_list")) {
    out.l3 = std::max(0, shared->first());
  } else {
    out.l3 = out.package;
  }
}

// Without the directory there is only node 0.
void read_numa_nodes(const std::string& host_root, Topology& out) {
  const std::string nodes = (host_root == "/" ? "" : host_root) + "/sys/devices/system/node";
  std::error_code error;
  for (fs::directory_iterator at(nodes, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with("node")) continue;
    auto id = parse_int(std::string_view(name).substr(4));
    auto cpus = read_list(at->path().string() + "/cpulist");
    if (!id || *id < 0 || !cpus) continue;
    for (int cpu : *cpus)
      if (auto found = out.cpus.find(cpu); found != out.cpus.end()) found->second.numa = *id;
  }
}

}  // namespace

CpuSet Topology::siblings(int cpu) const {
  auto found = cpus.find(cpu);
  return found == cpus.end() ? CpuSet{cpu} : found->second.siblings;
}

int Topology::numa(int cpu) const {
  auto found = cpus.find(cpu);
  return found == cpus.end() ? 0 : found->second.numa;
}

int Topology::l3(int cpu) const {
  auto found = cpus.find(cpu);
  return found == cpus.end() ? 0 : found->second.l3;
}

CpuSet Topology::siblings_of(const CpuSet& set) const {
  CpuSet out;
  for (int cpu : set) out |= siblings(cpu);
  return out;
}

Result<Topology> read_topology(const std::string& host_root) {
  const std::string directory = cpu_directory(host_root);
  Topology out;
  auto present = read_list(directory + "/present");
  if (!present || present->empty())
    return fail(Code::not_found,
                fmt::format("{}/present lists no CPUs; set --host-root to the host's file system",
                            directory));
  out.present = std::move(*present);
  out.online = read_list(directory + "/online").value_or(out.present);
  out.isolated = read_list(directory + "/isolated").value_or(CpuSet());
  out.kernel_max = read_number(directory + "/kernel_max").value_or(CpuSet::kMaxCpus - 1);
  for (int cpu : out.present) read_cpu(directory, cpu, out.cpus[cpu]);
  read_numa_nodes(host_root, out);
  return out;
}

bool update_online(Topology& topology, const std::string& host_root) {
  const std::string directory = cpu_directory(host_root);
  auto online = read_list(directory + "/online");
  if (!online || *online == topology.online) return false;
  // sysfs has the data of a CPU only since it came online for the first time.
  for (int cpu : *online - topology.online) {
    topology.present.add(cpu);
    read_cpu(directory, cpu, topology.cpus[cpu]);
  }
  topology.online = std::move(*online);
  read_numa_nodes(host_root, topology);
  return true;
}

}  // namespace plim::pools
