#include "agent/machine.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/files.hpp"
#include "base/text.hpp"

namespace plim::agent {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCpus = "/sys/devices/system/cpu";
constexpr std::string_view kNodes = "/sys/devices/system/node";

// The numbers of "cpu0", "cpu1" and so on in a directory.
std::vector<unsigned> numbered(const std::string& directory, std::string_view prefix) {
  std::vector<unsigned> out;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename();
    if (!name.starts_with(prefix)) continue;
    if (auto number = parse_int<unsigned>(std::string_view(name).substr(prefix.size())))
      out.push_back(*number);
  }
  std::ranges::sort(out);
  return out;
}

struct Places {
  std::size_t cpus = 0;
  std::set<std::string> sockets = {}, cores = {};

  void add_core(const std::string& socket, std::string_view core) {
    cores.insert(socket + ":" + std::string(core));
  }
};

Places places_of_cpuinfo(std::string_view text, Machine& machine) {
  Places out;
  std::string socket = "0";
  for (std::string_view line : split(text, '\n')) {
    auto [left, right] = cut(line, ':');
    const std::string_view key = trim(left), value = trim(right);
    if (key == "processor") ++out.cpus;
    if (key == "model name") machine.model = value;
    if (key == "model") machine.model_number = value;
    if (key == "physical id") socket = value, out.sockets.insert(socket);
    if (key == "core id") out.add_core(socket, value);
  }
  return out;
}

Places places_of_sys(const std::string& host_root) {
  Places out;
  const std::string base = host_root + std::string(kCpus);
  for (unsigned cpu : numbered(base, "cpu")) {
    const std::string topology = base + "/cpu" + std::to_string(cpu) + "/topology/";
    auto socket = read_file(topology + "physical_package_id");
    auto core = read_file(topology + "core_id");
    if (!socket || !core) continue;  // the CPU is offline
    ++out.cpus;
    const std::string number(trim(*socket));
    out.sockets.insert(number);
    out.add_core(number, trim(*core));
  }
  return out;
}

}  // namespace

Machine read_machine(const std::string& host_root) {
  Machine out;
  Places places = places_of_cpuinfo(read_file(host_root + "/proc/cpuinfo").value_or(""), out);
  if (places.cores.empty()) {
    Places others = places_of_sys(host_root);
    if (others.cpus > 0) places = std::move(others);
  }
  out.cpus = places.cpus;
  out.cores = places.cores.empty() ? places.cpus : places.cores.size();
  out.sockets = places.sockets.empty() && places.cpus > 0 ? 1 : places.sockets.size();
  out.numa_nodes = numbered(host_root + std::string(kNodes), "node");
  return out;
}

}  // namespace plim::agent
