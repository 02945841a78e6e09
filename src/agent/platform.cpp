#include "agent/platform.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "node/cgroup_text.hpp"

namespace plim::agent {
namespace {

struct VmstatCounter {
  std::string_view key, name, help;
};

constexpr std::array kVmstatCounters{
    VmstatCounter{"numa_pages_migrated", "platform_vmstat_numa_pages_migrated",
                  "Pages that NUMA balancing moved"},
    VmstatCounter{"pgmigrate_success", "platform_vmstat_pgmigrate_success", "Pages moved"},
    VmstatCounter{"pgmigrate_fail", "platform_vmstat_pgmigrate_fail",
                  "Pages that could not be moved"},
    VmstatCounter{"numa_hint_faults", "platform_vmstat_numa_hint_faults",
                  "Faults caused by NUMA balancing"},
    VmstatCounter{"numa_hint_faults_local", "platform_vmstat_numa_hint_faults_local",
                  "Faults of NUMA balancing on the right node"},
    VmstatCounter{"pgfault", "platform_vmstat_pgfaults", "Page faults of the machine"},
};

constexpr std::array<std::string_view, 3> kStalled{"cpu", "memory", "io"};
constexpr std::array<std::string_view, 2> kStalls{"some", "full"};

std::optional<Regex> compiled(const TextFilter& filter) {
  if (filter.pattern.empty()) return std::nullopt;
  auto made = Regex::compile(filter.pattern);
  PLIM_ASSERT(made);  // checked when the configuration was read
  return std::move(*made);
}

SeriesInOrder::Wanted key_filter(std::optional<Regex> pattern) {
  if (!pattern) return nullptr;
  return
      [pattern = std::move(*pattern)](std::string_view key) { return pattern.prefix_match(key); };
}

Labels with_label(Labels labels, std::string_view key, std::string value) {
  labels.try_emplace(std::string(key), std::move(value));
  return labels;
}

}  // namespace

Platform::Platform(MetricTable& table, Options options)
    : table_(table),
      options_(std::move(options)),
      zone_pattern_(compiled(options_.zoneinfo)),
      wanted_(key_filter(compiled(options_.vmstat))),
      stat_(options_.host_root + "/proc/stat"),
      meminfo_(options_.host_root + "/proc/meminfo"),
      vmstat_file_(options_.host_root + "/proc/vmstat"),
      zoneinfo_(options_.host_root + "/proc/zoneinfo"),
      pressure_files_{KernelFile(options_.host_root + "/proc/pressure/cpu"),
                      KernelFile(options_.host_root + "/proc/pressure/memory"),
                      KernelFile(options_.host_root + "/proc/pressure/io")},
      common_id_(table.add_labels(options_.common)),
      last_seen_(
          plain("platform_last_seen", MetricType::counter, "When the machine was read, unix time")),
      cores_(plain("platform_topology_cores", MetricType::gauge, "Cores")),
      cpus_(plain("platform_topology_cpus", MetricType::gauge, "Logical CPUs")),
      sockets_(plain("platform_topology_sockets", MetricType::gauge, "Sockets")),
      in_use_(plain("platform_mem_usage_bytes", MetricType::gauge,
                    "Memory in use, without buffers and page cache")),
      cpu_usage_(table,
                 table.family("platform_cpu_usage", MetricType::counter,
                              "Time that a CPU was not idle, in ticks"),
                 "cpu", options_.common),
      numa_free_(table,
                 table.family("platform_mem_numa_free_bytes", MetricType::gauge,
                              "Free memory of each NUMA node"),
                 "numa_node", options_.common),
      numa_used_(table,
                 table.family("platform_mem_numa_used_bytes", MetricType::gauge,
                              "Memory in use of each NUMA node"),
                 "numa_node", options_.common),
      vmstat_(table,
              table.family("platform_vmstat", MetricType::counter, "Counters of /proc/vmstat"),
              options_.common, wanted_),
      node_vmstat_family_(table.family("platform_node_vmstat", MetricType::counter,
                                       "Counters of each NUMA node's vmstat")),
      zone_family_(
          table.family("platform_zoneinfo", MetricType::gauge, "Values of /proc/zoneinfo")),
      pressure_family_(table.family("platform_pressure_seconds", MetricType::counter,
                                    "Time that some or all of the machine waited for a resource")) {
  for (const VmstatCounter& counter : kVmstatCounters)
    counters_.emplace_back(counter.key, plain(counter.name, MetricType::counter, counter.help));
}

MetricTable::Series Platform::plain(std::string_view name, MetricType type, std::string_view help) {
  return table_.add(table_.family(name, type, help), common_id_);
}

// NUMA nodes change only when CPUs do.
void Platform::set_machine() {
  machine_ = read_machine(options_.host_root);
  std::vector<Node> nodes;
  for (unsigned number : machine_.numa_nodes) {
    auto known = std::ranges::find(nodes_, number, &Node::number);
    if (known != nodes_.end()) {
      nodes.push_back(std::move(*known));
      continue;
    }
    const std::string base =
        fmt::format("{}/sys/devices/system/node/node{}/", options_.host_root, number);
    Labels labels = with_label(options_.common, "numa_node", std::to_string(number));
    nodes.push_back(
        {.number = number,
         .meminfo = KernelFile(base + "meminfo"),
         .vmstat = KernelFile(base + "vmstat"),
         .counters = SeriesInOrder(table_, node_vmstat_family_, std::move(labels), wanted_)});
  }
  nodes_ = std::move(nodes);
}

void Platform::read_cpus() {
  parse_cpu_ticks(stat_.read(buffer_), ticks_);
  if (!looked_ || !std::ranges::equal(ticks_, online_, {}, &CpuTicks::cpu)) {
    looked_ = true;
    online_.clear();
    for (const CpuTicks& one : ticks_) online_.push_back(one.cpu);
    set_machine();
  }
  for (const CpuTicks& one : ticks_) cpu_usage_.set(std::to_string(one.cpu), one.ticks);
  if (machine_.cpus == 0) return;
  table_.set(cores_, std::uint64_t{machine_.cores});
  table_.set(cpus_, std::uint64_t{machine_.cpus});
  table_.set(sockets_, std::uint64_t{machine_.sockets});
}

void Platform::read_memory() {
  if (auto bytes = memory_in_use(meminfo_.read(buffer_))) table_.set(in_use_, *bytes);
  for (Node& node : nodes_) {
    const std::string_view text = node.meminfo.read(buffer_);
    const auto publish = [&](std::string_view key, SeriesByLabel& series) {
      if (auto bytes = bytes_of_key(text, fmt::format("Node {} {}:", node.number, key)))
        series.set(std::to_string(node.number), *bytes);
    };
    publish("MemFree", numa_free_);
    publish("MemUsed", numa_used_);
  }
}

void Platform::read_vmstat() {
  const std::string_view text = vmstat_file_.read(buffer_);
  for (const auto& [key, series] : counters_)
    if (auto value = node::value_of_key(text, key)) table_.set(series, *value);
  if (!options_.vmstat.on) return;
  parse_key_values(text, values_);
  vmstat_.restart();
  for (const KeyValue& one : values_) vmstat_.set(one.key, one.value);
  for (Node& node : nodes_) {
    parse_key_values(node.vmstat.read(buffer_), values_);
    node.counters.restart();
    for (const KeyValue& one : values_) node.counters.set(one.key, one.value);
  }
}

void Platform::read_zones() {
  if (!options_.zoneinfo.on) return;
  parse_zones(zoneinfo_.read(buffer_), zone_pattern_ ? &*zone_pattern_ : nullptr, zones_);
  SeriesInOrder* series = nullptr;
  const ZoneValue* before = nullptr;
  for (const ZoneValue& one : zones_) {
    if (before == nullptr || before->node != one.node || before->zone != one.zone) {
      const std::pair key(one.node, std::string(one.zone));
      auto known = zone_series_.find(key);
      if (known == zone_series_.end()) {
        Labels labels = with_label(options_.common, "numa_node", std::to_string(one.node));
        labels = with_label(std::move(labels), "zone", key.second);
        known = zone_series_
                    .emplace(key, SeriesInOrder(table_, zone_family_, std::move(labels), nullptr))
                    .first;
      }
      series = &known->second;
      series->restart();
    }
    series->set(one.key, one.value);
    before = &one;
  }
}

void Platform::read_pressure() {
  has_pressure_ = false;
  if (!options_.pressure) return;
  for (std::size_t i = 0; i < kStalled.size(); ++i) {
    const std::string_view text = pressure_files_[i].read(buffer_);
    for (std::size_t j = 0; j < kStalls.size(); ++j) {
      const auto total = node::pressure_total(text, kStalls[j]);
      if (!total) continue;
      has_pressure_ = true;
      auto& series = pressure_[i * kStalls.size() + j];
      if (!series) {
        Labels labels = with_label(options_.common, "resource", std::string(kStalled[i]));
        labels = with_label(std::move(labels), "kind", std::string(kStalls[j]));
        series = table_.add(pressure_family_, table_.add_labels(labels));
      }
      table_.set(*series, static_cast<double>(*total) / 1e6);
    }
  }
}

void Platform::measure(WallTime wall) {
  table_.set(last_seen_, std::chrono::duration<double>(wall.time_since_epoch()).count());
  read_cpus();
  read_memory();
  read_vmstat();
  read_zones();
  read_pressure();
}

}  // namespace plim::agent
