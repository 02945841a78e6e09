// Metrics of the whole machine: CPUs, memory, NUMA nodes, counters of the kernel.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/config.hpp"
#include "agent/internal_metrics.hpp"
#include "agent/kernel_file.hpp"
#include "agent/machine.hpp"
#include "agent/metric_table.hpp"
#include "agent/platform_text.hpp"
#include "agent/series_in_order.hpp"
#include "base/clock.hpp"
#include "base/regex.hpp"

namespace plim::agent {

// Belongs to one loop. Omits metrics whose files do not exist.
class Platform {
 public:
  struct Options {
    std::string host_root = {};  // "" for the machine itself
    Labels common = {};
    TextFilter zoneinfo = {}, vmstat = {};
    bool pressure = true;
  };

  Platform(MetricTable& table, Options options);

  void measure(WallTime wall);

  bool has_pressure() const { return has_pressure_; }

 private:
  struct Node {
    unsigned number;
    KernelFile meminfo, vmstat;
    SeriesInOrder counters;
  };

  MetricTable::Series plain(std::string_view name, MetricType type, std::string_view help);
  void read_cpus();
  void set_machine();
  void read_memory();
  void read_vmstat();
  void read_zones();
  void read_pressure();

  MetricTable& table_;
  Options options_;
  std::optional<Regex> zone_pattern_;
  SeriesInOrder::Wanted wanted_;  // which keys of vmstat to publish

  Machine machine_;
  std::vector<unsigned> online_;  // online CPUs when the machine was last read
  bool looked_ = false;
  std::vector<Node> nodes_;
  KernelFile stat_, meminfo_, vmstat_file_, zoneinfo_;
  std::array<KernelFile, 3> pressure_files_;
  bool has_pressure_ = false;
  std::vector<char> buffer_;
  std::vector<CpuTicks> ticks_;
  std::vector<KeyValue> values_;
  std::vector<ZoneValue> zones_;

  MetricTable::LabelsId common_id_;
  MetricTable::Series last_seen_, cores_, cpus_, sockets_, in_use_;
  SeriesByLabel cpu_usage_, numa_free_, numa_used_;
  std::vector<std::pair<std::string_view, MetricTable::Series>> counters_;  // of vmstat, by key
  SeriesInOrder vmstat_;
  MetricTable::Family node_vmstat_family_, zone_family_, pressure_family_;
  std::map<std::pair<unsigned, std::string>, SeriesInOrder> zone_series_;
  std::array<std::optional<MetricTable::Series>, 6> pressure_;
};

}  // namespace plim::agent
