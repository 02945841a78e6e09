#include "pools/foreign.hpp"

#include <algorithm>
#include <filesystem>
#include <unistd.h>

#include "base/files.hpp"
#include "base/text.hpp"
#include "node/cgroup_names.hpp"

namespace plim::pools {
namespace {

// "R (running)" of "State:\tR (running)"; "" without such a line.
std::string_view status_field(std::string_view status, std::string_view name) {
  for (std::string_view line : split(status, '\n'))
    if (line.starts_with(name) && line.size() > name.size() && line[name.size()] == ':')
      return trim(line.substr(name.size() + 1));
  return {};
}

std::vector<int> numbers_in(const std::string& directory) {
  namespace fs = std::filesystem;
  std::vector<int> out;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error))
    if (auto number = parse_int<int>(at->path().filename().string())) out.push_back(*number);
  std::ranges::sort(out);
  return out;
}

bool is_of_a_pod(const std::string& process) {
  return node::is_in_pod(read_file(process + "/cgroup").value_or(""));
}

// CPUs on which runnable threads of the process may run. Kernel threads have no memory.
CpuSet runnable_on(const std::string& process) {
  CpuSet out;
  for (int thread : numbers_in(process + "/task")) {
    const std::string status =
        read_file(process + "/task/" + std::to_string(thread) + "/status").value_or("");
    if (status_field(status, "VmSize").empty()) return {};
    if (!status_field(status, "State").starts_with('R')) continue;
    if (auto cpus = parse_cpu_list(status_field(status, "Cpus_allowed_list"))) out |= *cpus;
  }
  return out;
}

}  // namespace

std::vector<ForeignProcess> foreign_processes(const std::string& host_root, const CpuSet& cpus) {
  std::vector<ForeignProcess> out;
  if (cpus.empty()) return out;
  const std::string proc = (host_root == "/" ? "" : host_root) + "/proc/";
  const int self = host_root == "/" ? static_cast<int>(::getpid()) : 0;
  for (int pid : numbers_in(proc)) {
    const std::string process = proc + std::to_string(pid);
    if (pid == self) continue;
    CpuSet used = runnable_on(process) & cpus;
    if (used.empty() || is_of_a_pod(process)) continue;
    const std::string name = read_file(process + "/comm").value_or("");
    out.push_back({.pid = pid, .name = std::string(trim(name)), .cpus = std::move(used)});
  }
  return out;
}

}  // namespace plim::pools
